import { Injectable } from '@nestjs/common';
import {
  ClsPluginTransactional,
  InjectTransactionHost,
  Transactional,
  type TransactionalAdapter,
  type TransactionHost,
} from '@nestjs-cls/transactional';
import { ClsModule } from 'nestjs-cls';
import { describe, expect, it } from 'vitest';
import {
  ack,
  type Delivery,
  fixed,
  type Outcome,
  retry,
  type Settlement,
  Subscribe,
} from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { Gate } from '../support/eventually';
import type { AcknowledgedOptions } from '../support/handlers';
import type { TestApp } from '../support/start-app';

const broker = await openBroker();

type Rows = string[];

/** A database of one table: rows of a transaction are in it once that is committed. */
class Database {
  readonly rows: Rows = [];
  readonly events: string[] = [];
  /** Runs before a commit. */
  beforeCommit: () => Promise<void> = async () => undefined;

  async inTransaction<T>(work: (rows: Rows) => Promise<T>): Promise<T> {
    const own: Rows = [];
    try {
      const result = await work(own);
      await this.beforeCommit();
      this.rows.push(...own);
      this.events.push('committed');
      return result;
    } catch (error) {
      this.events.push('rolled back');
      throw error;
    }
  }
}

type Adapter = TransactionalAdapter<Database, Rows, object>;

function adapterOf(database: Database): Adapter {
  return {
    connection: database,
    optionsFactory: (connection) => ({
      wrapWithTransaction: (_options, work, setTransaction) =>
        connection.inTransaction((rows) => {
          setTransaction(rows);
          return work();
        }),
      getFallbackInstance: () => connection.rows,
    }),
  };
}

@Injectable()
class Ledger {
  constructor(@InjectTransactionHost() private readonly transactions: TransactionHost<Adapter>) {}

  async add(row: string): Promise<void> {
    await Promise.resolve();
    this.transactions.tx.push(row);
  }
}

type Work = (ledger: Ledger, delivery: Delivery) => Promise<Outcome | undefined>;

/** An application whose handler works in a transaction. */
async function start(
  database: Database,
  options: AcknowledgedOptions & { queue: string },
  work: Work,
): Promise<TestApp> {
  @Injectable()
  class Handler {
    constructor(private readonly ledger: Ledger) {}

    @Transactional()
    @Subscribe({ retry: { attempts: 2, backoff: fixed(0) }, onError: 'retry', ...options })
    async handle(
      _payload: unknown,
      _message: unknown,
      _headers: unknown,
      delivery: Delivery,
    ): Promise<Outcome | undefined> {
      return work(this.ledger, delivery);
    }
  }
  const plugins = [new ClsPluginTransactional({ adapter: adapterOf(database) })];
  return startApp({
    providers: [Ledger, Handler],
    imports: [ClsModule.forRoot({ global: true, plugins })],
  });
}

/** In the order of the alphabet: the next attempt can begin before the republished message is confirmed. */
function kindsOf(settlements: readonly Settlement[]): string[] {
  return settlements.map(({ decision }) => decision.kind).sort();
}

describe('a transaction of @nestjs-cls/transactional around a handler', () => {
  it('is committed before the message is acknowledged', async () => {
    const queue = unique('commits');
    const database = new Database();
    const gate = new Gate();
    const committing = new Gate();
    database.beforeCommit = () => {
      committing.open();
      return gate.promise;
    };
    const app = await start(database, { queue }, async (ledger) => {
      await ledger.add('a');
      return ack().andAfter(() => database.events.push('after'));
    });
    await broker.send(queue, {});
    await committing.promise;
    expect(app.registry.inFlight()).toHaveLength(1);
    expect(app.settlements).toEqual([]);
    gate.open();
    const [settlement] = await app.settled(1);
    expect(settlement?.decision.kind).toBe('ack');
    expect(database.rows).toEqual(['a']);
    expect(database.events).toEqual(['committed', 'after']);
  });

  it.each<[what: string, fail: () => Promise<never>]>([
    ['throws an error', () => Promise.reject(new Error('no'))],
    ['throws retry()', () => Promise.reject(retry())],
  ])('is rolled back if the handler %s, and the next attempt has its own', async (_what, fail) => {
    const queue = unique('rolls-back');
    const database = new Database();
    const app = await start(database, { queue }, async (ledger, { attempt }) => {
      await ledger.add(`attempt ${attempt}`);
      return attempt === 1 ? fail() : undefined;
    });
    await broker.send(queue, {});
    const settlements = await app.settled(2);
    expect(kindsOf(settlements)).toEqual(['ack', 'republish']);
    expect(database.rows).toEqual(['attempt 2']);
    expect(database.events).toEqual(['rolled back', 'committed']);
  });

  it('is committed if the handler returns retry()', async () => {
    const queue = unique('returned');
    const database = new Database();
    const app = await start(database, { queue }, async (ledger, { attempt }) => {
      await ledger.add(`attempt ${attempt}`);
      return attempt === 1 ? retry() : undefined;
    });
    await broker.send(queue, {});
    await app.settled(2);
    expect(database.rows).toEqual(['attempt 1', 'attempt 2']);
  });

  it('that cannot be committed is an error of the handler', async () => {
    const queue = unique('conflict');
    const database = new Database();
    database.beforeCommit = async () => {
      if (database.events.length === 0) throw new Error('serialization failure');
    };
    const app = await start(database, { queue }, async (ledger, { attempt }) => {
      await ledger.add(`attempt ${attempt}`);
      return undefined;
    });
    await broker.send(queue, {});
    const settlements = await app.settled(2);
    expect(kindsOf(settlements)).toEqual(['ack', 'republish']);
    const [failure] = settlements.filter(({ decision }) => decision.kind === 'republish');
    expect(String(failure?.error)).toBe('Error: serialization failure');
    expect(database.rows).toEqual(['attempt 2']);
  });

  it('is rolled back after a timeout if the handler asks the signal', async () => {
    const queue = unique('timeout');
    const database = new Database();
    const rolledBack = new Gate();
    const options: AcknowledgedOptions & { queue: string } = { queue, timeout: 30 };
    const app = await start(database, options, async (ledger, { attempt, signal }) => {
      await ledger.add(`attempt ${attempt}`);
      if (attempt === 2) return undefined;
      await rolledBack.promise;
      signal.throwIfAborted();
      return undefined;
    });
    await broker.send(queue, {});
    await app.settled(2);
    rolledBack.open();
    await expect.poll(() => database.events).toEqual(['committed', 'rolled back']);
    expect(database.rows).toEqual(['attempt 2']);
  });

  it('is one for each of the deliveries that are handled at the same time', async () => {
    const queue = unique('concurrent');
    const database = new Database();
    const all = new Gate();
    let inFlight = 0;
    const app = await start(database, { queue, prefetch: 2 }, async (ledger, { messageId }) => {
      inFlight += 1;
      if (inFlight === 2) all.open();
      await all.promise;
      await ledger.add(messageId ?? '');
      if (messageId === 'fails') throw retry();
      return undefined;
    });
    for (const messageId of ['fails', 'works']) await broker.send(queue, {}, { messageId });
    await app.settled(3);
    expect(database.rows).toEqual(['works']);
    expect(database.events.sort()).toEqual(['committed', 'rolled back', 'rolled back']);
  });
});
