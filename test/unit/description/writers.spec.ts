import { Parser } from '@asyncapi/parser';
import { type } from 'arktype';
import { IsInt } from 'class-validator';
import 'reflect-metadata';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { asyncApiOf } from '../../../lib/description/asyncapi';
import { definitionsOf, foreignExchangesOf } from '../../../lib/description/definitions';
import { descriptionText } from '../../../lib/description/text';
import { fixed } from '../../../lib/model/backoff';
import { described } from './described';

class Dto {
  @IsInt()
  id!: number;
}

const application = described({
  'Billing.charge': {
    queue: 'billing',
    queueType: 'quorum',
    exchange: 'orders',
    routingKey: ['order.paid', 'order.#'],
    retry: { attempts: 3, backoff: fixed('10s') },
    deadLetter: 'billing.dead',
    schema: z.object({ id: z.uuid(), at: z.coerce.date(), lines: z.array(z.string()).min(1) }),
  },
  'Orders.paid': { queue: 'orders & more', when: { type: 'Paid' }, schema: type({ id: 'string' }) },
  'Orders.cancelled': {
    queue: 'orders & more',
    when: { type: 'Cancelled' },
    schema: v.object({ id: v.string() }),
  },
  'Audit.all': { exchange: 'elsewhere', routingKey: '#', noAck: true },
  'Other.handle': { queue: 'other', queueOptions: { exclusive: true }, schema: Dto },
});

describe('asyncApiOf', () => {
  it('makes a document that the parser of AsyncAPI accepts', async () => {
    const document = asyncApiOf(application, { title: 'Shop', version: '1.0.0' });
    const { document: parsed, diagnostics } = await new Parser().parse(JSON.stringify(document));
    expect(diagnostics.filter(({ severity }) => severity === 0)).toEqual([]);
    expect(parsed?.version()).toBe('3.0.0');
    const operations = parsed?.operations().all() ?? [];
    expect(operations.map((one) => [one.id(), one.action()])).toEqual([
      ['Billing.charge', 'receive'],
      ['Orders.paid', 'receive'],
      ['Orders.cancelled', 'receive'],
      ['Audit.all', 'receive'],
      ['Other.handle', 'receive'],
    ]);
    const addresses = parsed
      ?.channels()
      .all()
      .map((channel) => channel.address());
    expect(addresses).toEqual(['billing', 'orders & more', null, 'other']);
    const [charge] = operations;
    const payload = charge?.messages().all()[0]?.payload()?.json();
    expect(payload).toMatchObject({
      type: 'object',
      properties: { id: { type: 'string' }, lines: { type: 'array', minItems: 1 } },
    });
    expect(charge?.extensions().get('x-settle')?.value()).toMatchObject({
      retry: { attempts: 3, backoff: 'fixed(10s)', delays: [10_000] },
      deadLetter: { queue: 'billing.dead', by: 'client' },
    });
    const paid = operations[1]?.messages().all()[0]?.payload()?.json();
    expect(paid).toMatchObject({ required: ['id'] });
    expect(operations[2]?.messages().all()[0]?.payload()).toBeUndefined();
  }, 30_000);
});

describe('definitionsOf', () => {
  it('has the queues with a name, their exchanges and bindings, each once', () => {
    const { exchanges, queues, bindings } = definitionsOf(application, 'shop');
    expect(exchanges).toEqual([
      {
        name: 'orders',
        vhost: 'shop',
        type: 'topic',
        durable: true,
        auto_delete: false,
        internal: false,
        arguments: {},
      },
    ]);
    expect(queues.map((queue) => Reflect.get(queue, 'name'))).toEqual([
      'billing',
      'billing.waitq.10000',
      'billing.dead',
      'orders & more',
    ]);
    expect(queues[0]).toEqual({
      name: 'billing',
      vhost: 'shop',
      durable: true,
      auto_delete: false,
      arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': -1 },
    });
    expect(bindings).toEqual(
      ['order.paid', 'order.#'].map((key) => ({
        source: 'orders',
        vhost: 'shop',
        destination: 'billing',
        destination_type: 'queue',
        routing_key: key,
        arguments: {},
      })),
    );
    expect(foreignExchangesOf(application)).toEqual(['elsewhere']);
  });
});

describe('descriptionText', () => {
  it('has a table for each method', () => {
    const text = descriptionText(described({ 'A.a': { queue: 'a', retry: { attempts: 2 } } }));
    const lines = text.split('\n');
    expect(lines[0]).toBe('queue "a" (classic), connection "default", prefetch 10');
    expect(text).toContain('  waiting queue "a.wait.1000" (declared: first use)');
    expect(text).toContain(
      '  A.a: 2 attempts, backoff exponential(1s, max 5m); no dead-letter queue',
    );
    const head = lines.findIndex((line) => line.includes('what happens'));
    const column = lines[head]?.indexOf('what happens') ?? -1;
    const [, , drop] = lines.slice(head + 1);
    expect(drop?.trimStart().startsWith('drop()')).toBe(true);
    expect(drop?.slice(column)).toMatch(/^rejected and deleted/);
    expect(lines.every((line) => line === line.trimEnd())).toBe(true);
  });
});
