import 'reflect-metadata';
import { type } from 'arktype';
import { Type } from 'class-transformer';
import { IsEmail, IsInt, IsPositive, ValidateNested } from 'class-validator';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { InvalidPayloadError } from '../../../lib/model/invalid-payload-error';
import type { PayloadSchema } from '../../../lib/model/schema';
import { classValidator } from '../../../lib/pipeline/class-validator';
import { validatorOf } from '../../../lib/pipeline/validator';

const SECRET = 'secret@example.org';

class Item {
  @IsInt()
  @IsPositive()
  amount!: number;
}

class Order {
  @IsEmail()
  email!: string;

  @ValidateNested({ each: true })
  @Type(() => Item)
  items!: Item[];
}

async function errorOf(schema: PayloadSchema, payload: unknown): Promise<InvalidPayloadError> {
  try {
    await validatorOf(schema)(payload);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidPayloadError);
    return error as InvalidPayloadError;
  }
  throw new Error('the payload is valid');
}

const payload = { email: 5, items: [{ amount: 1 }, { amount: SECRET }] };

describe('validatorOf', () => {
  it.each<[name: string, schema: PayloadSchema, text: RegExp]>([
    [
      'Zod',
      z.object({ email: z.string(), items: z.array(z.object({ amount: z.number() })) }),
      /^email: invalid_type; items\[1\]\.amount: invalid_type$/,
    ],
    [
      'Valibot',
      v.object({ email: v.string(), items: v.array(v.object({ amount: v.number() })) }),
      /^email: string; items\[1\]\.amount: number$/,
    ],
    [
      'ArkType',
      type({ email: 'string', items: type({ amount: 'number' }).array() }),
      /^email: domain; items\[1\]\.amount: domain$/,
    ],
    [
      'class-validator',
      Order,
      /^email: isEmail; items\[1\]\.amount: isPositive; items\[1\]\.amount: isInt$/,
    ],
  ])('reports paths and codes of %s, never values', async (_name, schema, text) => {
    const error = await errorOf(schema, payload);
    expect(error.message).toMatch(text);
    expect(error.message).not.toContain(SECRET);
    expect(JSON.stringify(error.issues)).not.toContain(SECRET);
    expect(error.issues.at(-1)?.path).toEqual(['items', 1, 'amount']);
    expect(error.cause).toBeUndefined();
  });

  it('does not show keys that are not ordinary names', async () => {
    const error = await errorOf(z.record(z.string(), z.number()), { [SECRET]: 'x' });
    expect(error.message).toBe('[*]: invalid_type');
  });

  it('has the code "invalid" if a schema has none, or one that could be a value', async () => {
    const issues = [{ message: SECRET, path: ['a'] }, { code: `is ${SECRET}` }, { code: 5 }];
    const schema = { '~standard': { version: 1, vendor: 'own', validate: () => ({ issues }) } };
    const error = await errorOf(schema as PayloadSchema, payload);
    expect(error.message).toBe('a: invalid; invalid; invalid');
  });

  it.each([0, 1, 60, 100_000])('bounds the message for %d more issues', async (more) => {
    const issues = Array.from({ length: more + 1 }, (_, index) => ({
      code: 'too_small',
      path: ['items', index, 'amount'],
    }));
    const schema = { '~standard': { version: 1, vendor: 'own', validate: () => ({ issues }) } };
    const { message, issues: kept } = await errorOf(schema as PayloadSchema, payload);
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(1_024);
    expect(message.startsWith('items[0].amount: too_small')).toBe(true);
    const shown = message.split('too_small').length - 1;
    expect(message.endsWith('more')).toBe(shown < more + 1);
    if (shown < more + 1) expect(message).toContain(`; and ${more + 1 - shown} more`);
    expect(kept.length).toBe(Math.min(100, more + 1));
  });

  it('returns the output of a synchronous schema without a promise', () => {
    const schema = z.object({ at: z.coerce.date() });
    expect(validatorOf(schema)({ at: '2026-01-01' })).toEqual({ at: new Date('2026-01-01') });
  });

  it('awaits an asynchronous schema', async () => {
    const schema = z.string().refine(async (text) => text === 'known');
    await expect(validatorOf(schema)('known')).resolves.toBe('known');
    expect((await errorOf(schema, 'other')).message).toBe('custom');
  });

  it('makes an instance of a class and removes what has no decorator', async () => {
    const plain = { email: SECRET, items: [{ amount: 1, more: 2 }], other: 3 };
    const result = await validatorOf(Order)(plain);
    expect(result).toBeInstanceOf(Order);
    expect(result).toEqual({ email: SECRET, items: [{ amount: 1 }] });
    expect((result as Order).items[0]).toBeInstanceOf(Item);
  });

  it.each([null, undefined, 5, 'text', [{ email: SECRET }]])(
    'refuses %j where a class is expected',
    async (value) => {
      expect((await errorOf(Order, value)).message).toBe('isObject');
    },
  );

  it('refuses a class without decorators', () => {
    class Bare {}
    expect(() => validatorOf(Bare)).toThrow('the class Bare has no decorators of class-validator');
  });

  it.each(['class-transformer', 'class-validator'])('reports that %s is missing', (missing) => {
    const load = (name: string): unknown => {
      if (name === missing) throw new Error(`Cannot find module '${name}'`);
      return {};
    };
    expect(() => classValidator(Order, load)).toThrow(
      `a class needs the packages class-transformer and class-validator; cannot load ${missing}: Error: Cannot find module '${missing}'`,
    );
  });
});
