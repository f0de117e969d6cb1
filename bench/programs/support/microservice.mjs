// @ts-check
import { Controller } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, EventPattern, Payload, Transport } from '@nestjs/microservices';
import { decorate, LOGGER, moduleOf } from './nest.mjs';
import { job, runProgram } from './program.mjs';

/** @typedef {{ getChannelRef(): import('amqplib').Channel, getMessage(): import('amqplib').Message }} RmqContext */

/** @typedef {(payload: import('./handlers.mjs').Payload, context: RmqContext) => Promise<void>} Receive */

/**
 * A handler of Nest's own RabbitMQ transport, with acknowledgement by hand.
 *
 * @param {(handle: import('./handlers.mjs').Handle) => Receive} receiving
 * @returns {Promise<void>}
 */
export function runMicroservice(receiving) {
  return runProgram((handle) => start(receiving(handle)));
}

/**
 * @param {Receive} receive
 * @returns {Promise<() => Promise<void>>}
 */
async function start(receive) {
  class Handler {
    /**
     * @param {import('./handlers.mjs').Payload} payload
     * @param {RmqContext} context
     */
    handle(payload, context) {
      return receive(payload, context);
    }
  }
  Controller()(Handler);
  Payload()(Handler.prototype, 'handle', 0);
  Ctx()(Handler.prototype, 'handle', 1);
  decorate(Handler, [EventPattern('bench')]);
  const { uri, queue, prefetch } = job;
  const app = await NestFactory.createMicroservice(moduleOf({ controllers: [Handler] }), {
    logger: LOGGER,
    transport: Transport.RMQ,
    options: { urls: [uri], queue, noAck: false, noAssert: true, prefetchCount: prefetch },
  });
  await app.listen();
  return () => app.close();
}
