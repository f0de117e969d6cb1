// @ts-check
import { RabbitMQModule, RabbitSubscribe } from '@golevelup/nestjs-rabbitmq';
import { decorate, startContext } from './nest.mjs';
import { job, runProgram } from './program.mjs';

/** @typedef {import('./program.mjs').Handle} Handle */

/**
 * A handler of golevelup, with what else is applied to it. The queue is there already.
 *
 * @param {(type: Function) => void} [apply]
 * @returns {Promise<void>}
 */
export function runGolevelup(apply = () => {}) {
  return runProgram(async (handle) => {
    class Handler {
      /**
       * @param {Parameters<Handle>[0]} payload
       */
      handle(payload) {
        return handle(payload);
      }
    }
    apply(Handler);
    const { queue, uri, prefetch: prefetchCount } = job;
    decorate(Handler, [RabbitSubscribe({ queue, createQueueIfNotExists: false })]);
    const imports = [RabbitMQModule.forRoot({ uri, prefetchCount })];
    const app = await startContext({ imports, providers: [Handler] });
    return () => app.close();
  });
}
