const { resolve } = require('node:path');

/** @type {import('jest').Config} */
const project = {
  rootDir: resolve(__dirname, '../../..'),
  roots: ['<rootDir>/test/examples/jest'],
  testEnvironment: 'node',
  // Decorator metadata is what Nest injects by.
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
      },
    ],
  },
  // In this repository only: elsewhere the package is installed.
  moduleNameMapper: {
    '^nestjs-settle$': '<rootDir>/lib/index.ts',
    '^nestjs-settle/(testing|console|dead-letters|opentelemetry|terminus)$':
      '<rootDir>/lib/$1/index.ts',
  },
};

// Once more where Jest holds the timers before anything is loaded.
const heldTimers = {
  ...project,
  displayName: 'held timers',
  fakeTimers: { enableGlobally: true },
  testMatch: ['**/fake-timers.test.ts'],
};

module.exports = { projects: [project, heldTimers] };
