import { MemoryConnection } from '../../lib/memory/memory-connection';
import { MemoryServer } from '../../lib/memory/memory-server';
import { VirtualClock } from '../../lib/memory/virtual-clock';
import { sentPropertiesOf } from '../../lib/testing/publish-options';
import { testMessageOf } from '../../lib/testing/test-settlement';
import type { ConformanceAdapter } from '../conformance/adapter';

/** The in-memory adapter for the conformance suite, on a clock that moves when the suite lets time pass. */
export function memoryAdapter(version: readonly [number, number] = [4, 3]): ConformanceAdapter {
  const clock = new VirtualClock();
  const server = new MemoryServer(clock, version);
  const options = {
    name: 'default',
    registersHandlers: true,
    registersControllers: false,
    defaultHandler: undefined,
    ignoredErrorBehavior: undefined,
    deserializer: undefined,
    handlerOptions: () => undefined,
    prefetchOf: () => 10,
    exchangeTypeOf: () => undefined,
    virtualHost: '/',
    exchanges: [],
  };
  const connection = new MemoryConnection(options, server, clock);
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    clock,
    connection,
    countsUnprocessed: version[0] < 4 || (version[0] === 4 && version[1] < 3),
    version,
    declareExchange: async (name, type, more) => server.declareExchange(name, { ...more, type }),
    declareQueue: async (name, args, more) => {
      server.declareQueue(name, { ...more, arguments: args });
    },
    bind: async (queue, exchange, key, args) => server.bind(queue, exchange, key, args),
    publish: async (exchange, key, body, properties) =>
      server.publish(exchange, key, { body, ...sentPropertiesOf(properties) }),
    messages: async (name) => {
      if (!server.hasQueue(name)) return undefined;
      return server
        .queue(name)
        .ready.map((message) => testMessageOf({ ...message, headers: { ...message.headers } }));
    },
    deleteQueue: async (name) => server.deleteQueue(name),
    loseConnections: async () => connection.lose(),
    pass: async (ms) => {
      const target = clock.monotonic() + ms;
      await turn();
      for (let next = clock.nextAt; next !== undefined && next <= target; next = clock.nextAt) {
        clock.moveTo(next);
        await turn();
      }
      clock.moveTo(target);
      await turn();
    },
    close: async () => server.stop(),
  };
}
