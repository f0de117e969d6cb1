// @ts-check

/**
 * A program that consumes, in a file of its own in `programs/`.
 *
 * @typedef {object} Program
 * @property {string} name as the tables say it
 * @property {string | undefined} [packageName] whose version is told
 * @property {'pattern' | undefined} [envelope] whether messages are wrapped as Nest's transport wraps them
 * @property {boolean | undefined} [nodePath] whether packages of the repository must find those of `bench/`
 * @property {boolean | undefined} [deadLetterRoute] whether the queue needs a dead-letter route of its own
 */

const NESTJS_SETTLE = 'nestjs-settle';
const GOLEVELUP = '@golevelup/nestjs-rabbitmq';

/** @satisfies {Record<string, Program>} */
const all = {
  'amqplib-each': { name: 'amqplib, one ack a message', packageName: 'amqplib' },
  'amqplib-multiple': { name: 'amqplib, one multiple ack a turn', packageName: 'amqplib' },
  'amqplib-retry': { name: 'amqplib, copies by hand', packageName: 'amqplib' },
  'amqplib-retry-same': { name: 'amqplib, the same headers', packageName: 'amqplib' },
  'amqplib-dead': { name: 'amqplib, copies by hand', packageName: 'amqplib' },
  'amqplib-dead-same': { name: 'amqplib, the same headers', packageName: 'amqplib' },
  golevelup: { name: 'golevelup', packageName: GOLEVELUP },
  'golevelup-interceptor': { name: 'golevelup, one interceptor', packageName: GOLEVELUP },
  'golevelup-parameter': { name: 'golevelup, one parameter decorator', packageName: GOLEVELUP },
  'golevelup-pipe': { name: 'golevelup, ValidationPipe', packageName: GOLEVELUP },
  'nest-microservices': {
    name: 'Nest microservices, manual ack',
    packageName: '@nestjs/microservices',
    envelope: 'pattern',
    nodePath: true,
  },
  'rabbitmq-client': { name: 'rabbitmq-client', packageName: 'rabbitmq-client' },
  rascal: { name: 'rascal', packageName: 'rascal' },
  'rascal-retry': { name: 'rascal, republish', packageName: 'rascal' },
  'rascal-dead': {
    name: 'rascal, republish with immediate nack',
    packageName: 'rascal',
    deadLetterRoute: true,
  },
  settle: { name: 'nestjs-settle, everything on', packageName: NESTJS_SETTLE },
  'settle-declared': { name: 'nestjs-settle, without timeout, events, andAfter' },
  'settle-plain': { name: 'nestjs-settle, plain' },
  'settle-batch': { name: 'nestjs-settle, batches of 100' },
  'settle-metrics': { name: 'nestjs-settle, metrics' },
  'settle-traces': { name: 'nestjs-settle, traces, one in ten sampled' },
  'settle-context': { name: 'nestjs-settle, context of the delivery' },
  'settle-request-scope': { name: 'nestjs-settle, one request-scoped class' },
  'settle-order': { name: 'nestjs-settle, in the order of 1 000 keys' },
  'settle-parameter': { name: 'nestjs-settle, one parameter decorator' },
  'settle-pipe': { name: 'nestjs-settle, ValidationPipe' },
  'settle-retry': { name: 'nestjs-settle' },
  'settle-dead': { name: 'nestjs-settle' },
  'settle-delays': { name: 'nestjs-settle' },
  'poison-nest-requeue': {
    name: 'Nest microservices, nack',
    envelope: 'pattern',
    nodePath: true,
  },
  'poison-rascal-republish': { name: 'rascal, republish' },
  'poison-rascal-requeue': { name: 'rascal, nack with requeue' },
  'poison-settle-retry': { name: 'nestjs-settle' },
  'poison-settle-backoff': { name: 'nestjs-settle, backoff' },
  'poison-settle-broker': { name: "nestjs-settle, the broker's own delay" },
};

/** @typedef {keyof typeof all} ProgramLabel */

export const programs = /** @type {Record<ProgramLabel, Program>} */ (all);

/**
 * What is to be compared with, but cannot be measured, and why.
 *
 * @type {readonly { name: string, reason: string }[]}
 */
export const leftOut = [
  {
    name: "amqp-contract's worker",
    reason:
      'its packages do not install: @amqp-contract/worker 2.4.0 needs "unthrown", 0.19.0 needs @amqp-contract/core, ' +
      'and npm finds neither',
  },
];
