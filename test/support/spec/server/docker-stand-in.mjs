// @ts-check
/**
 * Stands in for the `docker` command: as much of it as a test server needs, with a server in each "container" that
 * only opens connections and tells its version: patch 7 of what its image is named for, or `DOCKER_STAND_IN_VERSION`.
 * Containers and a record of all calls are kept in the folder that `DOCKER_STAND_IN` names.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = process.env.DOCKER_STAND_IN ?? '';
const [command = '', ...parameters] = process.argv.slice(2);
const container = join(folder, `${parameters.at(-1)}.json`);

switch (command) {
  case 'serve':
    serve(parameters);
    break;
  case 'create':
    create();
    break;
  case 'start':
    update({ pid: startServer() });
    break;
  case 'stop':
  case 'kill':
    endServer();
    break;
  case 'rm':
    if (existsSync(container)) {
      endServer();
      rmSync(container);
    }
    break;
  case 'exec':
    console.log(parameters.join(' '));
    break;
  case 'logs':
    console.log('a line of the log');
    break;
}
if (command !== 'serve') {
  appendFileSync(join(folder, 'calls'), `${[command, ...parameters].join(' ')}\n`);
}

function create() {
  const name = parameters[parameters.indexOf('--name') + 1] ?? '';
  const ports = parameters.filter((word) => /^127\.0\.0\.1:\d+:(5672|15672)$/.test(word));
  writeFileSync(
    join(folder, `${name}.json`),
    JSON.stringify({ ports: ports.map((word) => word.split(':')[1]), version: versionOf() }),
  );
}

/** @returns {string} */
function versionOf() {
  return process.env.DOCKER_STAND_IN_VERSION ?? `${parameters.at(-1)?.split(':')[1]}.7`;
}

/** @returns {{ ports: string[], version: string, pid?: number }} */
function read() {
  return JSON.parse(readFileSync(container, 'utf8'));
}

/** @param {object} change */
function update(change) {
  writeFileSync(container, JSON.stringify({ ...read(), ...change }));
}

/** @returns {number | undefined} */
function startServer() {
  const { ports, version } = read();
  const words = [fileURLToPath(import.meta.url), 'serve', ...ports, version];
  const server = spawn(process.execPath, words, { detached: true, stdio: 'ignore' });
  server.unref();
  return server.pid;
}

function endServer() {
  const { pid } = read();
  if (pid !== undefined) {
    process.kill(pid, 'SIGKILL');
    update({ pid: undefined });
  }
}

/** @param {string[]} words */
function serve([amqpPort, managementPort, version]) {
  createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.write(Buffer.from([1, 0, 0])));
  }).listen(Number(amqpPort), '127.0.0.1');
  createHttpServer((_, response) =>
    response.end(JSON.stringify({ rabbitmq_version: version })),
  ).listen(Number(managementPort), '127.0.0.1');
}
