import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import {
  type BatchResult,
  type Delivery,
  drop,
  Panic,
  pauseFor,
  retry,
  retryAfter,
  Subscribe,
  type SubscribeOptions,
} from '../../lib';
import { SettleOpenTelemetryModule } from '../../lib/opentelemetry';
import { type BrokerClient, openBroker, startApp, unique } from '../support/environment';
import { Gate, until } from '../support/eventually';
import { RecordedTraces, useOpenTelemetry } from '../support/telemetry';

/** What a handler and the steps of an end work with. */
interface Scene {
  readonly queue: string;
  readonly broker: BrokerClient;
  readonly app: Awaited<ReturnType<typeof startApp>>;
  /** Opens when a handler is called. */
  readonly started: Gate;
  /** Opened by a step; handlers wait for it. */
  readonly go: Gate;
  readonly Handler: ReturnType<typeof handlerOf>;
}

/** The parts of a scene that exist before its application. */
type Gates = Pick<Scene, 'started' | 'go'>;

interface End {
  readonly options?: Partial<SubscribeOptions>;
  readonly handle?: (gates: Gates, attempt: number) => unknown;
  /** How many messages are sent; default 1. */
  readonly messages?: number;
  readonly act?: (scene: Scene) => Promise<unknown>;
  /** How the spans end, in any order: the decision and the status; `undefined` for one without a settlement. */
  readonly ends: readonly (string | undefined)[];
}

const fail = (): never => {
  throw new Error('no answer');
};
const hang = ({ started }: Gates): Promise<never> => {
  started.open();
  return new Promise(() => undefined);
};
const wait = async ({ started, go }: Gates): Promise<void> => {
  started.open();
  await go.promise;
};
/** The server closes the channel while the handler runs; then the handler ends. */
const loseChannel = async ({ started, broker, queue, go }: Scene): Promise<void> => {
  await started.promise;
  await broker.delete(queue);
  await until(async () => (await broker.consumers(queue).catch(() => 0)) === 1);
  go.open();
};
const close = async ({ started, app }: Scene): Promise<void> => {
  await started.promise;
  await app.close();
};
const schema = {
  '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'no' }] }) },
} as const;
const batch = { size: 2, wait: 100 };
const order = { by: () => 'key', instances: 1 } as const;

const ENDS: Readonly<Record<string, End>> = {
  'an acknowledgement': { ends: ['ack sent'] },
  'a rejected message': { handle: () => drop(), ends: ['reject sent'] },
  'a dead-lettered message': {
    options: { deadLetter: unique('dead') },
    handle: fail,
    ends: ['deadLetter sent'],
  },
  'a requeued message': {
    options: { queueType: 'quorum', retry: { attempts: 2 } },
    handle: (_gates, attempt) => (attempt === 1 ? retry() : undefined),
    ends: ['requeue sent', 'ack sent'],
  },
  'a republished message': {
    options: { retry: { attempts: 2 } },
    handle: (_gates, attempt) => (attempt === 1 ? retryAfter(20) : undefined),
    ends: ['republish sent', 'ack sent'],
  },
  'a message that pauses its subscription': {
    handle: ({ started }) => {
      if (started.isOpen) return undefined;
      started.open();
      return pauseFor(100);
    },
    ends: ['requeue sent', 'ack sent'],
  },
  'a message that a kill switch requeues': {
    options: { prefetch: 1, killSwitch: { minimum: 1, failures: 1, pause: 150 } },
    messages: 2,
    handle: ({ go }) => {
      if (!go.isOpen) fail();
    },
    act: async ({ app, go }) => {
      await until(() => app.settlements.some(({ status }) => status === 'released'));
      go.open();
    },
    ends: ['reject sent', 'requeue released', 'ack sent'],
  },
  'an invalid payload': { options: { schema }, ends: ['reject sent'] },
  'a message that no method takes': {
    options: { when: { type: 'Paid' } },
    ends: ['reject sent'],
  },
  'a timeout whose handler goes on': {
    options: { timeout: 20 },
    handle: hang,
    ends: ['reject sent'],
  },
  'a noAck message': { options: { noAck: true }, handle: () => drop(), ends: ['none none'] },
  'a noAck message that is lost at shutdown': {
    options: { noAck: true },
    handle: hang,
    act: close,
    ends: ['none none'],
  },
  'a message that is left unsettled': {
    handle: () => {
      throw new Panic('a bug');
    },
    act: ({ app }) => until(() => app.failed.length === 1),
    ends: ['leaveUnsettled none'],
  },
  'messages that run or wait at shutdown': {
    options: { concurrency: 1, prefetch: 2 },
    messages: 2,
    handle: hang,
    act: close,
    ends: ['requeue released', 'requeue released'],
  },
  'a message that waits when its subscription is paused': {
    options: { concurrency: 1, prefetch: 2 },
    messages: 2,
    handle: wait,
    act: async ({ app, Handler, started, go }) => {
      await started.promise;
      await until(() => app.registry.get(Handler, 'handle').waiting === 1);
      const paused = app.registry.pause(Handler, 'handle');
      go.open();
      await paused;
    },
    ends: ['requeue released', 'ack sent'],
  },
  'a message whose channel is lost while its handler runs': {
    handle: wait,
    act: loseChannel,
    ends: ['ack abandoned'],
  },
  'a failed message whose channel is lost': {
    options: { retry: { attempts: 3 }, onError: 'retryAfter' },
    handle: async (gates) => {
      await wait(gates);
      fail();
    },
    act: loseChannel,
    ends: ['republish abandoned'],
  },
  'a message whose channel is lost while it waits': {
    options: { concurrency: 1, prefetch: 2 },
    messages: 2,
    handle: wait,
    act: loseChannel,
    ends: ['ack abandoned'],
  },
  'a batch': { options: { batch }, messages: 2, ends: ['ack sent', 'ack sent'] },
  'a batch with an outcome for each': {
    options: { batch, retry: { attempts: 1 } },
    messages: 2,
    handle: () => [drop(), undefined],
    ends: ['reject sent', 'ack sent'],
  },
  'a batch that fails': {
    options: { batch },
    messages: 2,
    handle: fail,
    ends: ['reject sent', 'reject sent'],
  },
  'a batch that exceeds its timeout': {
    options: { batch, timeout: 20 },
    messages: 2,
    handle: hang,
    ends: ['reject sent', 'reject sent'],
  },
  'a payload that gets into no batch': {
    options: { batch, schema },
    messages: 2,
    ends: ['reject sent', 'reject sent'],
  },
  'a batch that is left unsettled': {
    options: { batch },
    messages: 2,
    handle: () => {
      throw new Panic('a bug');
    },
    act: ({ app }) => until(() => app.failed.length > 0),
    ends: ['leaveUnsettled none', 'leaveUnsettled none'],
  },
  'a batch that runs at shutdown': {
    options: { batch },
    messages: 2,
    handle: hang,
    act: close,
    ends: ['requeue released', 'requeue released'],
  },
  'a batch whose channel is lost': {
    options: { batch },
    messages: 2,
    handle: wait,
    act: loseChannel,
    ends: ['ack abandoned', 'ack abandoned'],
  },
  'an ordered message that is retried in its place': {
    options: { order, retry: { attempts: 2 } },
    handle: (_gates, attempt) => (attempt === 1 ? retry() : undefined),
    ends: [undefined, 'ack sent'],
  },
  'an ordered message that is stuck': {
    options: { order, retry: { attempts: 2 }, onError: 'retry' },
    handle: fail,
    act: ({ app, Handler }) => until(() => app.registry.get(Handler, 'handle').cause === 'stuck'),
    ends: [undefined, 'requeue released'],
  },
  'an ordered message whose channel is lost': {
    options: { order, retry: { attempts: 2 } },
    messages: 2,
    handle: async (gates) => {
      await wait(gates);
      return retry();
    },
    act: loseChannel,
    ends: ['republish abandoned'],
  },
  'an ordered message that runs at shutdown': {
    options: { order },
    messages: 2,
    handle: hang,
    act: close,
    ends: ['requeue released', 'requeue released'],
  },
};

function handlerOf(options: SubscribeOptions, gates: Gates, handle: End['handle']) {
  @Injectable()
  class Handler {
    @Subscribe(options)
    handle(_payload: never, deliveries: unknown, _headers: unknown, delivery?: Delivery) {
      const [first = delivery] = Array.isArray(deliveries) ? (deliveries as Delivery[]) : [];
      return handle?.(gates, first?.attempt ?? 1) as BatchResult as never;
    }
  }
  return Handler;
}

describe('every span ends', async () => {
  useOpenTelemetry();
  const broker = await openBroker();

  it.each(Object.entries(ENDS))('of %s', async (_what, end) => {
    const { options, handle, messages = 1, act, ends } = end;
    const queue = unique('span');
    const gates: Gates = { started: new Gate(), go: new Gate() };
    const traces = new RecordedTraces();
    const Handler = handlerOf({ queue, ...options } as SubscribeOptions, gates, handle);
    const { provider: tracerProvider } = traces;
    const app = await startApp({
      providers: [Handler],
      settle: { shutdownTimeout: 200, abortGracePeriod: 0 },
      imports: [SettleOpenTelemetryModule.forRoot({ metrics: false, tracerProvider })],
    });
    for (let id = 1; id <= messages; id += 1) await broker.send(queue, id);
    await act?.({ ...gates, queue, broker, app, Handler });
    await until(() => traces.named(`process ${queue}`).length >= ends.length);
    const found = traces.named(`process ${queue}`).map(({ attributes }) => {
      const { 'settle.decision': decision, 'settle.status': status } = attributes;
      return decision === undefined ? undefined : `${decision} ${status}`;
    });
    expect(found.sort()).toEqual([...ends].sort());
    await app.close();
    expect(traces.open).toEqual([]);
  });
});
