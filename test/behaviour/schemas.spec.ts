import * as common from '@nestjs/common';
import { Injectable, type PipeTransform, UsePipes } from '@nestjs/common';
import { type } from 'arktype';
import { Type } from 'class-transformer';
import { IsDate, IsUUID } from 'class-validator';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { drop, fixed, type PayloadSchema, retryAfter, Subscribe } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';

const ID = '0e0b5f5c-7c56-4f6e-9e0c-1d6c1b1f3a10';

class OrderDto {
  @IsUUID()
  id!: string;

  @Type(() => Date)
  @IsDate()
  paidAt!: Date;
}

const paidAt = z.coerce.date();
const schemas: [name: string, schema: PayloadSchema, text: string][] = [
  ['Zod', z.object({ id: z.uuid(), paidAt }), 'id: invalid_format'],
  [
    'asynchronous Zod',
    z.object({ id: z.string().refine(async (id) => id === ID), paidAt }),
    'id: custom',
  ],
  [
    'Valibot',
    v.object({ id: v.pipe(v.string(), v.uuid()), paidAt: v.pipe(v.string(), v.toDate()) }),
    'id: uuid',
  ],
  ['ArkType', type({ id: 'string.uuid', paidAt: 'string.date.parse' }), 'id: pattern'],
  ['class-validator', OrderDto, 'id: isUuid'],
];

describe.each(schemas)('a schema of %s', async (_name, schema, text) => {
  const broker = await openBroker();

  async function start(more: Partial<AcknowledgedOptions>, body = (_payload: unknown) => {}) {
    const queue = unique('schema');
    const payloads: unknown[] = [];
    const options = { queue, deadLetter: `${queue}.dead`, retry: { attempts: 3 }, ...more };
    const Handler = handlerOf({ ...options, schema }, (payload) => {
      payloads.push(payload);
      return body(payload);
    });
    return { app: await startApp({ providers: [Handler] }), queue, payloads };
  }

  it('gives the handler what it gives', async () => {
    const { app, queue, payloads } = await start({});
    await broker.send(queue, { id: ID, paidAt: '2026-01-01T00:00:00Z', more: 1 });
    const [settlement] = await app.settled(1);
    expect(settlement?.decision.kind).toBe('ack');
    expect(payloads).toMatchObject([{ id: ID, paidAt: new Date('2026-01-01') }]);
    expect(settlement?.delivery.payload).toBe(payloads[0]);
  });

  it('dead-letters what does not match, with paths and codes and without values', async () => {
    const { app, queue, payloads } = await start({});
    const body = { id: 'personal', paidAt: '2026-01-01T00:00:00Z' };
    await broker.send(queue, body, { messageId: 'm1' });
    const dead = await broker.take(`${queue}.dead`);
    const { headers } = dead.properties;
    expect(headers?.['x-settle-reason']).toBe('invalid-payload');
    expect(headers?.['x-settle-attempts-made']).toBe(1);
    expect(headers?.['x-settle-error-name']).toBe('InvalidPayloadError');
    expect(headers?.['x-settle-error-message']).toBe(text);
    expect(JSON.stringify(headers)).not.toContain('personal');
    expect(JSON.parse(dead.content.toString())).toEqual(body);
    await app.settled(1);
    expect(payloads).toEqual([]);
    const lines = app.log.matching(/"m1"/);
    expect(lines[0]).toContain(`InvalidPayloadError: ${text}`);
    expect(lines.join()).not.toContain('personal');
  });

  it('leaves the body of a message that is retried as it was published', async () => {
    const { app, queue, payloads } = await start({}, () => {
      throw payloads.length === 1 ? retryAfter(1) : drop();
    });
    const body = `{ "id": "${ID}",   "paidAt": "2026-01-01T00:00:00Z", "more": 1 }`;
    await broker.send(queue, Buffer.from(body));
    const dead = await broker.take(`${queue}.dead`);
    expect(dead.content.toString()).toBe(body);
    const settlements = await app.settled(2);
    expect(settlements[0]?.republished?.body.toString()).toBe(body);
    expect(payloads).toHaveLength(2);
    expect(payloads[1]).toEqual(payloads[0]);
  });
});

describe('a schema', async () => {
  const broker = await openBroker();

  async function fail(thrown: unknown, more: Partial<AcknowledgedOptions> = {}) {
    const queue = unique('schema-fails');
    const schema = z.object({}).refine(() => {
      throw thrown;
    });
    const Handler = handlerOf(
      { queue, schema, deadLetter: `${queue}.dead`, onPanic: 'drop', ...more },
      () => undefined,
    );
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const dead = await broker.take(`${queue}.dead`);
    await app.settled(1);
    return dead.properties.headers?.['x-settle-reason'];
  }

  it('that throws an error of a system it asks is not an invalid payload', async () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    expect(await fail(refused)).toBe('error');
  });

  it('that has a bug is a panic', async () => {
    expect(await fail(new TypeError('x is not a function'))).toBe('panic');
  });

  it('that throws an error of its own is an invalid payload', async () => {
    expect(await fail(new Error('refused'))).toBe('invalid-payload');
  });

  it('does not call the handler for a delivery that has timed out meanwhile', async () => {
    const queue = unique('schema-timeout');
    let calls = 0;
    const schema = z.object({}).refine(() => new Promise<boolean>(() => {}));
    const Handler = handlerOf(
      { queue, schema, timeout: '50ms', deadLetter: `${queue}.dead` },
      () => {
        calls += 1;
      },
    );
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const dead = await broker.take(`${queue}.dead`);
    expect(dead.properties.headers?.['x-settle-reason']).toBe('timeout');
    await app.settled(1);
    expect(calls).toBe(0);
  });

  it('runs before the pipes, which get what it gives', async () => {
    const queue = unique('schema-pipe');
    const piped: unknown[] = [];
    const pipe: PipeTransform = {
      transform(value: unknown) {
        piped.push(value);
        return value;
      },
    };
    @Injectable()
    class Handler {
      @Subscribe({ queue, schema: z.object({ at: z.coerce.date() }) })
      @UsePipes(pipe)
      handle(_payload: { at: Date }): void {}
    }
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, { at: '2026-01-01' });
    await app.settled(1);
    expect(piped).toEqual([{ at: new Date('2026-01-01') }]);
  });

  it.each<[what: string, schema: unknown, fault: string]>([
    ['a class without decorators', class Bare {}, 'the class Bare has no decorators'],
    ['an object', { id: String }, 'expected a Standard Schema, or a class with decorators'],
  ])('that is %s fails at startup', async (_what, schema, fault) => {
    const Handler = handlerOf({ queue: unique('bad'), schema: schema as never }, () => undefined);
    await expect(startApp({ providers: [Handler] })).rejects.toThrow(
      `Handler.handle: schema: ${fault}`,
    );
  });
});

// Part of Nest from version 12 on.
const Pipe = Reflect.get(common, 'StandardSchemaValidationPipe') as
  | (new () => PipeTransform)
  | undefined;

describe.skipIf(Pipe === undefined)("Nest's StandardSchemaValidationPipe", async () => {
  const broker = await openBroker();

  it('makes an invalid payload of what it refuses', async () => {
    const queue = unique('schema-nest');
    const pipe = new (Pipe ?? Object)() as PipeTransform;
    const schema = z.object({ id: z.uuid() });
    const withSchema: PipeTransform = {
      transform: (value, metadata) => pipe.transform(value, { ...metadata, schema } as never),
    };
    @Injectable()
    class Handler {
      @Subscribe({ queue, deadLetter: `${queue}.dead`, retry: { attempts: 3, backoff: fixed(1) } })
      @UsePipes(withSchema)
      handle(_payload: object): void {}
    }
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, { id: 'x' });
    const dead = await broker.take(`${queue}.dead`);
    expect(dead.properties.headers?.['x-settle-reason']).toBe('invalid-payload');
    await app.settled(1);
  });
});
