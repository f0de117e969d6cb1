// @ts-check

/** @typedef {import('./installed-folder.mjs').Manifest} Manifest */

const majors = { '@nestjs/common': '^12', '@nestjs/core': '^12' };

/** What golevelup needs beside Nest 12, as README.md has it. */
const golevelup = { '@golevelup/nestjs-rabbitmq': majors, '@golevelup/nestjs-discovery': majors };

/**
 * The same packages, with those of Nest in version 12.
 *
 * @param {Manifest} manifest
 * @returns {Manifest}
 */
export function onNest12({ dependencies, overrides }) {
  const nest = Object.keys(dependencies).filter((name) => name.startsWith('@nestjs/'));
  const versions = Object.fromEntries(nest.map((name) => [name, '^12.0.0']));
  return {
    dependencies: { ...dependencies, ...versions },
    overrides: { ...overrides, ...golevelup },
  };
}
