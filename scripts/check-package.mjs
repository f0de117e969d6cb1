// @ts-check
/**
 * Packs a copy of the repository as it would be published from a fresh clone and checks the tarball: publint and attw, the
 * list and the size of its files, no address of a registry and no path of this machine in it or in the lock file, every
 * import declared, and an application that uses it: the sample compiles against its types, and `require` gives the public
 * names.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const binaries = join(root, 'node_modules', '.bin');

/** What `require('nestjs-settle')` gives; types have no names at run time. */
const publicNames = [
  'ChannelLostError',
  'Delivery',
  'HandlerTimeoutError',
  'InjectSubscription',
  'InvalidPayloadError',
  'Panic',
  'RepublishError',
  'SettleHeaders',
  'SettleModule',
  'SettleStartupError',
  'SettlementEvents',
  'ShutdownError',
  'Subscribe',
  'SubscriptionEvents',
  'SubscriptionRegistry',
  'UnmatchedMessageError',
  'ack',
  'currentDelivery',
  'drop',
  'exponential',
  'fixed',
  'getSubscriptionToken',
  'http',
  'isOutcome',
  'linear',
  'network',
  'on',
  'parseDuration',
  'pauseFor',
  'retry',
  'retryAfter',
  'sqlState',
  'steps',
];

/** What the other entries give. */
const entryNames = {
  'nestjs-settle/console': ['SettleConsoleModule'],
  'nestjs-settle/dead-letters': ['DeadLetters', 'SettleDeadLettersModule'],
  'nestjs-settle/opentelemetry': ['SettleOpenTelemetryModule'],
  'nestjs-settle/terminus': ['SettleHealthIndicator'],
};

/** The files of the console's page. */
const consoleFiles = [
  'api.mjs',
  'charts.mjs',
  'dead-letters.mjs',
  'dom.mjs',
  'icon.svg',
  'index.html',
  'main.mjs',
  'style.css',
  'subscriptions.mjs',
  'tasks.mjs',
];

/** What the unpacked package may take, in bytes. */
const sizeLimit = 1_600_000;

const folder = mkdtempSync(join(tmpdir(), 'nestjs-settle-package-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const { tarball, files } = pack();
run(join(binaries, 'publint'), ['run', tarball, '--strict']);
// The package is CommonJS: an `import` of it from an ES module is resolved as such.
run(join(binaries, 'attw'), [tarball, '--no-emoji', '--format', 'ascii']);
checkFileList(files);
const consumer = install();
checkTexts(join(consumer, 'node_modules', 'nestjs-settle'));
checkDependencies(join(consumer, 'node_modules', 'nestjs-settle'));
checkNames(consumer);
checkTypes(consumer);
console.log(`the package is in order: ${files.length} files`);

/**
 * Packs what git knows of, without dist: `prepack` has to build it.
 *
 * @returns {{ tarball: string, files: string[] }}
 */
function pack() {
  const copy = join(folder, 'clone');
  const tracked = run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    quiet: true,
  });
  for (const path of tracked.split('\0').filter((one) => one && existsSync(join(root, one)))) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(root, path), join(copy, path));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const parameters = ['pack', '--json', '--pack-destination', folder];
  const output = run('npm', parameters, { quiet: true, cwd: copy });
  const [{ filename, files, unpackedSize }] = JSON.parse(output.slice(output.indexOf('[')));
  if (unpackedSize > sizeLimit) {
    fail(`the package takes ${unpackedSize} bytes unpacked; expected at most ${sizeLimit}`);
  }
  console.log(`unpacked size: ${unpackedSize} bytes, limit ${sizeLimit}`);
  return {
    tarball: join(folder, filename),
    files: files.map((/** @type {{ path: string }} */ { path }) => path),
  };
}

/**
 * @param {string[]} files
 */
function checkFileList(files) {
  const beside = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'];
  const found = files.filter((path) => !path.startsWith('dist/')).sort();
  if (found.join() !== beside.join()) {
    fail(`expected dist and ${beside.join(', ')} in the package; found ${found.join(', ')}`);
  }
  const page = 'dist/console/assets/';
  const pageFiles = files.filter((path) => path.startsWith(page)).sort();
  if (pageFiles.join() !== consoleFiles.map((name) => page + name).join()) {
    fail(`expected ${consoleFiles.join(', ')} in ${page}; found ${pageFiles.join(', ')}`);
  }
  const others = files.filter((path) => path.startsWith('dist/') && !path.startsWith(page));
  const odd = others.filter((path) => !/\.(js|d\.ts)$/.test(path));
  if (odd.length > 0) fail(`expected only code and types in dist; found ${odd.join(', ')}`);
}

/**
 * Unpacks the tarball into a folder with the dependencies of this one beside it.
 *
 * @returns {string} the folder of an application that has the package installed
 */
function install() {
  const modules = join(folder, 'consumer', 'node_modules');
  const target = join(modules, 'nestjs-settle');
  mkdirSync(target, { recursive: true });
  writeFileSync(join(folder, 'consumer', 'package.json'), '{ "private": true }');
  run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name.startsWith('.') || name === 'nestjs-settle') continue;
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  return join(folder, 'consumer');
}

/**
 * @param {string} packageFolder
 */
function checkTexts(packageFolder) {
  const paths = [root, tmpdir(), homedir()].filter((path) => path.length > 1);
  for (const file of [...filesIn(packageFolder), join(root, 'package-lock.json')]) {
    const text = readFileSync(file, 'utf8');
    const path = paths.find((one) => text.includes(`${one}/`));
    if (path !== undefined) fail(`${file} names a folder of this machine, ${path}`);
    const registry = /"resolved":\s*"(?:https?|git)[^"]*"|\/\/registry\.[\w.-]+/.exec(text);
    if (registry !== null) fail(`${file} names a registry: ${registry[0]}`);
  }
}

/**
 * What code and types import has to be a dependency or a peer.
 *
 * @param {string} packageFolder
 */
function checkDependencies(packageFolder) {
  const manifest = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'));
  const declared = { ...manifest.dependencies, ...manifest.peerDependencies };
  for (const file of filesIn(join(packageFolder, 'dist'))) {
    const imports = readFileSync(file, 'utf8').matchAll(
      /(?:require\(|from |import\()["']((?:@[\w.-]+\/)?[\w.-]+)[\w./-]*["']/g,
    );
    for (const [, name = ''] of file.endsWith('.map') ? [] : imports) {
      const isDeclared = name in declared || `@types/${name}` in declared;
      if (!name.startsWith('.') && !isBuiltin(name) && !isDeclared) {
        fail(`${file} imports ${name}, which is neither a dependency nor a peer`);
      }
    }
  }
}

/**
 * @param {string} top
 * @returns {string[]} the paths of all files below
 */
function filesIn(top) {
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/**
 * @param {string} consumer
 */
function checkNames(consumer) {
  for (const [entry, names] of Object.entries({ 'nestjs-settle': publicNames, ...entryNames })) {
    const script = `console.log(JSON.stringify(Object.keys(require('${entry}')).sort()))`;
    const output = run(process.execPath, ['-e', script], { quiet: true, cwd: consumer });
    if (output.trim() !== JSON.stringify(names)) {
      fail(`${entry}: expected the public names ${names.join(', ')}; found ${output}`);
    }
  }
}

/**
 * Compiles the sample as an application outside of this repository would be.
 *
 * @param {string} consumer
 */
function checkTypes(consumer) {
  cpSync(join(root, 'sample-app'), join(consumer, 'src'), { recursive: true });
  rmSync(join(consumer, 'src', 'tsconfig.json'));
  const compilerOptions = {
    target: 'es2022',
    module: 'node16',
    strict: true,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    skipLibCheck: true,
    types: ['node'],
    noEmit: true,
  };
  const project = join(consumer, 'tsconfig.json');
  writeFileSync(project, JSON.stringify({ compilerOptions, include: ['src'] }));
  run(join(binaries, 'tsc'), ['-p', project]);
}

/**
 * Runs a command to its end; this process fails with it.
 *
 * @param {string} command
 * @param {string[]} parameters
 * @param {{ quiet?: boolean, cwd?: string }} [options]
 * @returns {string} what it wrote, if quiet
 */
function run(command, parameters, { quiet = false, cwd = root } = {}) {
  try {
    const stdout = quiet ? 'pipe' : 'inherit';
    return execFileSync(command, parameters, {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', stdout, 'inherit'],
    });
  } catch {
    return fail(`failed: ${[command, ...parameters].join(' ')}`);
  }
}

/**
 * @param {string} problem
 * @returns {never}
 */
function fail(problem) {
  console.error(problem);
  process.exit(1);
}
