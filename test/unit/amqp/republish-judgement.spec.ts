import { describe, expect, it } from 'vitest';
import { judgeTry, type Plan, type TryResult } from '../../../lib/amqp/republish-judgement';
import type { MessageForm } from '../../../lib/amqp/writable-message';
import type { RepublishError } from '../../../lib/model/errors';

type Failed = Exclude<TryResult, { status: 'confirmed' }>;
type Row = readonly [
  what: string,
  result: Failed,
  error: Partial<RepublishError>,
  next: Partial<Plan> | undefined,
];

const PLAN: Plan = { form: 'whole', isAlone: false };

function reply(code: number, text = 'why'): Error {
  return Object.assign(new Error(text), { code });
}

function closed(error: unknown, isAlone: boolean): Failed {
  return { status: 'closed', error, isAlone };
}

const again: readonly Row[] = [
  [
    'a returned message',
    { status: 'returned', replyCode: 312, replyText: 'NO_ROUTE' },
    { scope: 'target', mayHaveArrived: false },
    PLAN,
  ],
  ['a nack', { status: 'refused' }, { scope: 'broker', mayHaveArrived: false }, PLAN],
  ['a blocked connection', { status: 'blocked' }, { scope: 'broker', mayHaveArrived: false }, PLAN],
  ['no reply', { status: 'unconfirmed' }, { scope: 'broker', mayHaveArrived: true }, PLAN],
  [
    'no connection',
    { status: 'unwritten', error: new Error('ECONNREFUSED') },
    { scope: 'broker', mayHaveArrived: false, message: 'ECONNREFUSED' },
    PLAN,
  ],
  ...[403, 404, 406].map((code): Row => {
    const error = reply(code);
    const failed = {
      scope: 'target',
      replyCode: code,
      mayHaveArrived: false,
      cause: error,
    } as const;
    return [`a declaration refused with ${code}`, { status: 'unwritten', error }, failed, PLAN];
  }),
  [
    'a lost connection',
    closed(new Error('ECONNRESET'), false),
    { scope: 'broker', mayHaveArrived: true },
    PLAN,
  ],
  [
    'a connection closed by an operator',
    closed(reply(320), true),
    { scope: 'broker', replyCode: 320, mayHaveArrived: true },
    PLAN,
  ],
];

const ends: readonly Row[] = [
  [
    'a user who may not publish',
    closed(reply(403), true),
    { scope: 'broker', replyCode: 403, mayHaveArrived: false },
    undefined,
  ],
  [
    'a body that is too large',
    closed(reply(406, 'message size 9 is larger than configured max size 8'), true),
    { scope: 'message', replyCode: 406, mayHaveArrived: false },
    undefined,
  ],
];

const alone: readonly Row[] = [311, 406, 501, 502, 503, 505, 541].map((code) => [
  `a close with ${code} beside other messages`,
  closed(reply(code), false),
  { scope: 'broker', replyCode: code, mayHaveArrived: true },
  { form: 'whole', isAlone: true },
]);

describe('judgeTry', () => {
  it.each([...again, ...ends, ...alone])('%s', (_what, result, error, next) => {
    const judgement = judgeTry(PLAN, result);
    expect(judgement.error).toMatchObject(error);
    expect(judgement.next).toEqual(next);
  });

  it.each<[MessageForm, MessageForm | undefined, number, string]>([
    ['whole', 'plain', 406, 'broker'],
    ['plain', 'bare', 406, 'broker'],
    ['bare', undefined, 406, 'message'],
    ['whole', 'plain', 541, 'broker'],
    // Not the message's fault if its body alone is too much.
    ['bare', undefined, 541, 'target'],
  ])('a %s message refused alone is published %s next: %i', (form, next, code, scope) => {
    const judgement = judgeTry({ form, isAlone: true }, closed(reply(code), true));
    expect(judgement.error).toMatchObject({ scope, replyCode: code, mayHaveArrived: false });
    expect(judgement.next).toEqual(next && { form: next, isAlone: true });
  });

  it.each<[MessageForm, MessageForm | undefined]>([
    ['whole', 'plain'],
    ['bare', undefined],
  ])('a %s message that cannot be encoded is published %s next, and never blamed', (form, next) => {
    const error = new TypeError('Unsupported type');
    const judgement = judgeTry({ form, isAlone: false }, { status: 'unencodable', error });
    expect(judgement.error).toMatchObject({ scope: 'broker', cause: error });
    expect(judgement.next?.form).toBe(next);
  });
});
