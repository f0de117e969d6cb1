import { describe, expect, it, onTestFinished } from 'vitest';
import { fixed, retryAfter, SettleStartupError, type SubscribeOptions } from '../../lib';
import { startApp } from '../support/app';
import { management, openBroker, unique, url } from '../support/broker';
import { until } from '../support/eventually';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';

/** Patterns of the queues and exchanges that a user may use; nothing by default. */
interface Rights {
  readonly configure?: string;
  readonly write?: string;
  readonly read?: string;
}

const NOTHING = '^$';
const DEFAULT_EXCHANGE = '^amq\\.default$';

async function addUser({ configure = NOTHING, write = NOTHING, read = NOTHING }: Rights) {
  const user = unique('user');
  await management.addUser(user, 'secret');
  onTestFinished(async () => {
    await management.deleteUser(user);
  });
  await management.setPermissions(user, { configure, write, read });
  const address = new URL(url);
  address.username = user;
  address.password = 'secret';
  return { user, uri: address.href };
}

describe('a user without a right', async () => {
  const broker = await openBroker();

  /** Starts a subscription of a new queue as a user with these rights, and that exists for `declare: false`. */
  async function start(
    rights: (queue: string) => Rights,
    options: Partial<AcknowledgedOptions> = {},
  ) {
    const queue = unique('rights');
    await broker.declare(queue);
    await broker.declare(`${queue}.dead`);
    const { user, uri } = await addUser(rights(queue));
    const Handler = handlerOf({ queue, ...options } as SubscribeOptions, (payload) =>
      payload === 'late' ? retryAfter(40) : undefined,
    );
    const starting = startApp({ providers: [Handler], rabbit: { uri } });
    return { queue, user, starting };
  }

  it.each<
    [right: string, rights: (queue: string) => Rights, options: Partial<AcknowledgedOptions>]
  >([
    ['configure.* on queue "Q"', (queue) => ({ read: `^${queue}$` }), {}],
    [
      'configure.* on queue "Q.other"',
      (queue) => ({ read: `^${queue}$`, configure: `^${queue}$` }),
      { deadLetter: 'Q.other' },
    ],
    ['read on queue "Q"', (queue) => ({ configure: `^${queue}` }), {}],
    ['read on queue "Q"', () => ({}), { declare: false }],
    [
      'write on queue "Q"',
      (queue) => ({ read: '.*', configure: `^${queue}` }),
      { exchange: 'amq.direct', routingKey: 'a' },
    ],
    [
      'read on exchange "amq.direct"',
      (queue) => ({ read: `^${queue}`, write: `^${queue}`, configure: `^${queue}` }),
      { exchange: 'amq.direct', routingKey: 'a' },
    ],
    [
      'configure.* on queue "Q.wait.40"',
      (queue) => ({ read: '.*', write: '.*', configure: `^${queue}$` }),
      { retry: { attempts: 2, backoff: fixed(40) } },
    ],
    [
      'write on exchange "amq.default"',
      () => ({ configure: '.*', read: '.*' }),
      { onError: 'retryAfter' },
    ],
  ])(
    '%s does not start, and the error names it',
    async (right, rights, { deadLetter, ...options }) => {
      const other = unique('other');
      const { queue, user, starting } = await start(rights, {
        ...options,
        ...(deadLetter !== undefined && { deadLetter: other }),
      });
      const error: unknown = await starting.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(SettleStartupError);
      const granted = right.replace('Q.other', other).replace('Q', queue).replaceAll('.', '\\.');
      expect((error as Error).message).toMatch(
        new RegExp(
          `^Handler\\.handle: RabbitMQ refused to declare or consume queue "${queue}": .*403.*` +
            `\\. Grant user "${user}" of virtual host "/": ${granted.replace('\\.*', '.*')}\\.$`,
        ),
      );
    },
  );

  const missing = /^Handler\.handle \[missing-permission\]/;
  const onExchange = (user: string) =>
    `Grant user "${user}" of virtual host "/": write on exchange "amq.default".`;

  it.each<[what: string, rights: (queue: string) => Rights, options: Partial<AcknowledgedOptions>]>(
    [
      [
        'may declare queues',
        () => ({ configure: '.*', read: '.*' }),
        { deadLetter: 'dead', retry: { attempts: 2 } },
      ],
      [
        'may declare queues and retries only',
        () => ({ configure: '.*', read: '.*' }),
        { retry: { attempts: 2 } },
      ],
      [
        'may declare its waiting queues only',
        (queue) => ({ configure: `^${queue}`, read: `^${queue}` }),
        { retry: { attempts: 2 } },
      ],
      [
        'may declare nothing',
        (queue) => ({ read: `^${queue}` }),
        { deadLetter: 'dead', declare: false },
      ],
    ],
  )(
    'to publish, who %s, gets one line at startup',
    async (_what, rights, { deadLetter, ...options }) => {
      const dead = unique('dead');
      await broker.declare(dead);
      const { queue, user, starting } = await start(rights, {
        ...options,
        ...(deadLetter !== undefined && { deadLetter: dead }),
      });
      const { log } = await starting;
      await until(() => log.matching(missing, ['warn']).length > 0);
      const [line, ...others] = log.matching(missing, ['warn']);
      expect(others).toEqual([]);
      expect(line).toContain(`queue "${queue}": its messages cannot be republished: `);
      expect(line).toContain('403 (ACCESS-REFUSED)');
      expect(line?.endsWith(onExchange(user))).toBe(true);
    },
  );

  it.each(['classic', 'quorum'] as const)(
    'to declare the waiting queues of a %s queue gets one line at startup',
    async (queueType) => {
      const queue = unique('waiting');
      const { user, uri } = await addUser({
        configure: `^${queue}$`,
        write: DEFAULT_EXCHANGE,
        read: `^${queue}`,
      });
      const Handler = handlerOf({ queue, queueType, retry: { attempts: 3 } }, () => undefined);
      const { log } = await startApp({ providers: [Handler], rabbit: { uri } });
      await until(() => log.matching(missing, ['warn']).length > 0);
      const [line] = log.matching(missing, ['warn']);
      const waiting = `${queue}.${queueType === 'quorum' ? 'waitq' : 'wait'}.<ms>`;
      expect(line).toContain(`queue "${queue}": its waiting queues cannot be declared: `);
      expect(line).toContain(
        `Grant user "${user}" of virtual host "/": configure and read on queue "${waiting}".`,
      );
      expect(log.matching(missing)).toHaveLength(1);
    },
  );

  it.each<[what: string, rights: (queue: string) => Rights, options: Partial<AcknowledgedOptions>]>(
    [
      [
        'all of them',
        (queue) => ({ configure: `^${queue}`, write: DEFAULT_EXCHANGE, read: `^${queue}` }),
        { retry: { attempts: 2 } },
      ],
      [
        'those that declare: false needs',
        (queue) => ({ write: DEFAULT_EXCHANGE, read: `^${queue}$` }),
        { retry: { attempts: 2 }, declare: false },
      ],
      [
        'none for what is never republished',
        (queue) => ({ configure: `^${queue}$`, read: `^${queue}$` }),
        {},
      ],
    ],
  )('who has %s gets no line, and its messages are republished', async (_what, rights, options) => {
    const { queue, starting } = await start(rights, options);
    if (options.declare === false) {
      const args = {
        'x-message-ttl': 40,
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': queue,
      };
      await broker.declare(`${queue}.wait.40`, { arguments: args });
    }
    const app = await starting;
    await broker.send(queue, options.retry === undefined ? 'fine' : 'late');
    await app.settled(options.retry?.attempts ?? 1);
    expect(app.settlements[0]?.status).toBe('sent');
    await until(async () => {
      const names = (await management.queues()).map(({ name }) => name);
      return !names.some((name) => /\.wait\.\d{11,}$/.test(name));
    });
    await app.close();
    expect(app.log.matching(missing)).toEqual([]);
  });
});
