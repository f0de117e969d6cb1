import { beforeEach, describe, expect, it } from 'vitest';
import type { QueueDeclaration, ServerVersion } from '../../../lib/amqp/queue-declarations';
import { declareTopology, ensureDeadLetterQueue } from '../../../lib/amqp/topology';
import type { TopologyClient } from '../../../lib/amqp/topology-client';
import { ensureWaitingQueue, waitingQueueOf } from '../../../lib/amqp/waiting-queues';
import { linear, on, retryAfter, steps } from '../../../lib/index';
import type { SubscribeOptions } from '../../../lib/model/options';
import { aLog, aSubscription, RecordingLogger } from '../fixtures';

function refusal(code: number): Error {
  return Object.assign(new Error(`refused with ${code}`), { code });
}

/** A server that has some queues and exchanges, and records what it is asked. */
class FakeTopology implements TopologyClient {
  readonly calls: string[] = [];
  readonly declared = new Map<string, QueueDeclaration>();
  readonly queues = new Set<string>();
  readonly exchanges = new Set<string>();
  /** Refuses a declaration with the error that this returns. */
  refuse: (queue: string, declaration: QueueDeclaration) => Error | undefined = () => undefined;

  constructor(readonly version: ServerVersion = [4, 0]) {}

  async checkQueue(queue: string): Promise<void> {
    this.calls.push(`check ${queue}`);
    if (!this.queues.has(queue)) throw refusal(404);
  }

  async assertQueue(queue: string, declaration: QueueDeclaration): Promise<string> {
    this.calls.push(`assert ${queue}`);
    const refused = this.refuse(queue, declaration);
    if (refused !== undefined) throw refused;
    const name = queue === '' ? 'amq.gen-1' : queue;
    this.queues.add(name);
    this.declared.set(name, declaration);
    return name;
  }

  async bindQueue(
    queue: string,
    exchange: string,
    routingKey: string,
    args: Readonly<Record<string, unknown>> | undefined,
  ): Promise<void> {
    this.calls.push(`bind ${queue} ${exchange} ${routingKey}${args ? JSON.stringify(args) : ''}`);
  }

  async checkExchange(exchange: string): Promise<void> {
    this.calls.push(`check exchange ${exchange}`);
    if (!this.exchanges.has(exchange)) throw refusal(404);
  }
}

const brokerDelays = { retry: { attempts: 3, backoff: linear('5s'), by: 'broker' } } as const;

let client: FakeTopology;
let logger: RecordingLogger;

beforeEach(() => {
  client = new FakeTopology();
  logger = new RecordingLogger();
});

function declare(options: SubscribeOptions): Promise<string> {
  return declareTopology(client, aSubscription(options), aLog(logger));
}

describe('declareTopology', () => {
  it('declares the dead-letter queue, then the queue, then its bindings', async () => {
    const options: SubscribeOptions = {
      exchange: 'orders',
      routingKey: ['paid', 'late'],
      deadLetter: 'billing.dead',
      queueOptions: { bindQueueArguments: { a: 1 } },
    };
    expect(await declare(options)).toBe('billing');
    expect(client.calls).toEqual([
      'check billing.dead',
      'assert billing.dead',
      'assert billing',
      'bind billing orders paid{"a":1}',
      'bind billing orders late{"a":1}',
    ]);
    expect(logger.lines).toEqual([]);
  });

  it('binds a server-named queue under the name that the server chose', async () => {
    const options = { queue: undefined as never, exchange: 'orders', routingKey: 'paid' };
    expect(await declare(options)).toBe('amq.gen-1');
    expect(client.calls).toEqual(['assert ', 'bind amq.gen-1 orders paid']);
    expect(client.declared.get('amq.gen-1')).toMatchObject({ exclusive: true, autoDelete: true });
  });

  it('checks what must not be declared, and declares nothing', async () => {
    client.queues.add('billing').add('billing.dead');
    const options = { exchange: 'orders', routingKey: 'paid', deadLetter: 'billing.dead' };
    await declare({ ...options, declare: false });
    expect(client.calls).toEqual(['check billing.dead', 'check billing']);
  });

  it.each(['billing', 'billing.dead'])(
    'rejects if %s must not be declared and is missing',
    async (missing) => {
      client.queues.add('billing').add('billing.dead');
      client.queues.delete(missing);
      const declaring = declare({ deadLetter: 'billing.dead', declare: false });
      await expect(declaring).rejects.toMatchObject({ code: 404 });
    },
  );

  it('rejects if the queue exists with other arguments', async () => {
    client.refuse = () => refusal(406);
    await expect(declare({})).rejects.toMatchObject({ code: 406 });
    expect(client.calls).toEqual(['assert billing']);
  });

  it("refuses retry.by 'broker' before 4.3, before anything is declared", async () => {
    const options: SubscribeOptions = {
      queueType: 'quorum',
      retry: { attempts: 3, backoff: linear('5s'), by: 'broker' },
    };
    await expect(declare(options)).rejects.toThrow(/4\.3 or later; found 4\.0/);
    await expect(declare(options)).rejects.toMatchObject({ code: 406 });
    expect(client.calls).toEqual([]);
    client = new FakeTopology([4, 3]);
    expect(await declare(options)).toBe('billing');
  });
});

describe('a dead-letter exchange of the queue', () => {
  const ways: readonly (readonly [string, SubscribeOptions['queueOptions']])[] = [
    ['deadLetterExchange', { deadLetterExchange: 'dlx' }],
    ['arguments', { arguments: { 'x-dead-letter-exchange': 'dlx' } }],
  ];

  it.each(ways)('that is missing is logged and does no other harm (%s)', async (_name, given) => {
    expect(await declare({ queueOptions: given ?? {} })).toBe('billing');
    expect(logger.texts('warn')).toEqual([
      expect.stringMatching(/^Billing\.charge \[missing-exchange\] .*"dlx" does not exist/),
    ]);
  });

  it.each(ways)('that exists is not logged (%s)', async (_name, given) => {
    client.exchanges.add('dlx');
    await declare({ queueOptions: given ?? {} });
    expect(client.calls).toContain('check exchange dlx');
    expect(logger.lines).toEqual([]);
  });

  it('that is the default exchange is not checked', async () => {
    await declare({ queueOptions: { deadLetterExchange: '' } });
    expect(client.calls).toEqual(['assert billing']);
  });
});

describe('the delivery limit that is added for many attempts', () => {
  const many: SubscribeOptions = { queueType: 'quorum', retry: { attempts: 30 } };
  const refuseLimit = (queue: string, { arguments: args }: QueueDeclaration) =>
    queue === 'billing' && 'x-delivery-limit' in args ? refusal(406) : undefined;

  it('is left out for a queue that exists without it, with a warning', async () => {
    client.refuse = refuseLimit;
    expect(await declare(many)).toBe('billing');
    expect(client.calls).toEqual(['assert billing', 'assert billing']);
    expect(client.declared.get('billing')?.arguments).toEqual({ 'x-queue-type': 'quorum' });
    expect(logger.texts('warn')).toEqual([
      expect.stringMatching(/\[delivery-limit\] queue "billing" .*retry\.attempts \(30\)/),
    ]);
  });

  it.each<[string, SubscribeOptions]>([
    ['is given by the application', { queueOptions: { arguments: { 'x-delivery-limit': 50 } } }],
    ['is the cap of the broker', { deadLetter: { queue: 'billing.dead', by: 'broker' } }],
  ])('is kept if it %s', async (_name, options) => {
    client.refuse = refuseLimit;
    await expect(declare({ ...many, ...options } as SubscribeOptions)).rejects.toMatchObject({
      code: 406,
    });
    expect(client.calls.filter((call) => call === 'assert billing')).toHaveLength(1);
  });
});

describe('ensureDeadLetterQueue', () => {
  const subscription = aSubscription({ deadLetter: 'billing.dead' });

  it('uses an existing queue as it is', async () => {
    client.queues.add('billing.dead');
    await ensureDeadLetterQueue(client, subscription);
    expect(client.calls).toEqual(['check billing.dead']);
  });

  it('uses a queue that another subscription declared in between', async () => {
    client.refuse = (queue) => {
      client.queues.add(queue);
      return refusal(406);
    };
    await ensureDeadLetterQueue(client, subscription);
    expect(client.calls).toEqual([
      'check billing.dead',
      'assert billing.dead',
      'check billing.dead',
    ]);
  });

  it('rejects if its check or declaration is refused otherwise', async () => {
    client.refuse = () => refusal(403);
    const ensuring = ensureDeadLetterQueue(client, subscription);
    await expect(ensuring).rejects.toMatchObject({ code: 403 });
    client.checkQueue = () => Promise.reject(refusal(405));
    client.calls.length = 0;
    const checking = ensureDeadLetterQueue(client, subscription);
    await expect(checking).rejects.toMatchObject({ code: 405 });
    expect(client.calls).toEqual([]);
  });

  it('declares a queue that the user may not check', async () => {
    client.checkQueue = () => Promise.reject(refusal(403));
    await ensureDeadLetterQueue(client, subscription);
    expect(client.calls).toEqual(['assert billing.dead']);
  });
});

describe('a check that the user may not make', () => {
  const backoff = steps(['7s']);
  const options: SubscribeOptions = {
    retry: { attempts: 2, backoff },
    deadLetter: 'billing.dead',
    declare: false,
    queueOptions: { deadLetterExchange: 'late' },
  };

  it('does not keep a subscription that declares nothing from consuming', async () => {
    client.checkQueue = () => Promise.reject(refusal(403));
    client.checkExchange = () => Promise.reject(refusal(403));
    expect(await declare(options)).toBe('billing');
    expect([client.calls, logger.lines]).toEqual([[], []]);
  });

  it('is told from one of a queue that does not exist', async () => {
    await expect(declare(options)).rejects.toMatchObject({ code: 404 });
  });
});

describe('ensureWaitingQueue', () => {
  const waiting = waitingQueueOf(aSubscription(), 'billing', 1_024);

  it('declares a queue whose messages return to the queue', async () => {
    await ensureWaitingQueue(client, aSubscription(), waiting);
    expect(client.declared.get('billing.wait.1024')?.arguments).toMatchObject({
      'x-message-ttl': 1_024,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': 'billing',
    });
  });

  it('checks a queue that must not be declared', async () => {
    const subscription = aSubscription({ declare: { waiting: false } });
    const missing = ensureWaitingQueue(client, subscription, waiting);
    await expect(missing).rejects.toMatchObject({ code: 404 });
    client.queues.add('billing.wait.1024');
    await ensureWaitingQueue(client, subscription, waiting);
    expect(client.calls).toEqual(['check billing.wait.1024', 'check billing.wait.1024']);
  });
});

describe('the waiting queues of a backoff', () => {
  const backoff = steps(['7s', '3s']);

  it('are declared at startup, after the bindings, in the order of the attempts', async () => {
    await declare({ exchange: 'orders', routingKey: 'paid', retry: { attempts: 5, backoff } });
    expect(client.calls).toEqual([
      'assert billing',
      'bind billing orders paid',
      'assert billing.wait.7000',
      'assert billing.wait.3000',
    ]);
    expect(client.declared.get('billing.wait.7000')?.arguments['x-message-ttl']).toBe(7_000);
  });

  it('are checked if they must not be declared', async () => {
    client.queues.add('billing').add('billing.wait.7000').add('billing.wait.3000');
    await declare({ retry: { attempts: 5, backoff }, declare: false });
    expect(client.calls).toEqual([
      'check billing',
      'check billing.wait.7000',
      'check billing.wait.3000',
    ]);
  });

  it('do not keep a subscription from consuming while their node is down', async () => {
    const down = Object.assign(new Error("404 NOT_FOUND - home node 'a' is down"), { code: 404 });
    client.refuse = (queue) => (queue === 'billing.wait.7000' ? down : undefined);
    expect(await declare({ retry: { attempts: 5, backoff } })).toBe('billing');
    expect(client.calls.at(-1)).toBe('assert billing.wait.3000');
    expect(logger.lines).toMatchObject([
      { level: 'warn', text: expect.stringMatching(/\[waiting-queue-unavailable\].*home node/) },
    ]);
  });

  it.each([403, 406])('are refused with the error %i of the server', async (code) => {
    client.refuse = (queue) => (queue === 'billing.wait.7000' ? refusal(code) : undefined);
    await expect(declare({ retry: { attempts: 5, backoff } })).rejects.toMatchObject({ code });
  });

  it.each<[string, SubscribeOptions, readonly string[]]>([
    ['the default backoff', { retry: { attempts: 3 } }, []],
    [
      'the default backoff with a policy that delays',
      { retry: { attempts: 3 }, onError: 'retryAfter' },
      ['billing.wait.1000', 'billing.wait.2000'],
    ],
    [
      'the default backoff with a rule that delays',
      { retry: { attempts: 2 }, onError: [on(TypeError, retryAfter()), 'drop'] },
      ['billing.wait.1000'],
    ],
    ['the delays of the broker', { ...brokerDelays, queueType: 'quorum' }, []],
    ['no acknowledgements', { noAck: true }, []],
  ])('with %s: %o', async (_name, options, expected) => {
    client = new FakeTopology([4, 3]);
    await declare(options);
    expect(client.calls).toEqual(['assert billing', ...expected.map((name) => `assert ${name}`)]);
  });
});
