// @ts-check
/** Nest's own RabbitMQ transport, acknowledging by hand as its documentation shows. */

import { Controller } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, EventPattern, Payload, Transport } from '@nestjs/microservices';
import { decorate, LOGGER, moduleOf } from './support/nest.mjs';
import { job, runProgram } from './support/program.mjs';

/** @typedef {{ getChannelRef(): import('amqplib').Channel, getMessage(): import('amqplib').Message }} RmqContext */

await runProgram(async (handle) => {
  class Handler {
    /**
     * @param {import('./support/handlers.mjs').Payload} payload
     * @param {RmqContext} context
     */
    async handle(payload, context) {
      await handle(payload);
      context.getChannelRef().ack(context.getMessage());
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
});
