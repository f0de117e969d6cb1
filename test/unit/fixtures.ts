import type { LoggerService } from '@nestjs/common';
import { DeliveryRecord } from '../../lib/delivery/delivery-record';
import { SubscriptionLog } from '../../lib/log/subscription-log';
import type { IncomingMessage } from '../../lib/model/delivery';
import type { SubscribeDefaults, SubscribeOptions } from '../../lib/model/options';
import type { SubscriptionMetadata } from '../../lib/model/subscription-metadata';
import type { FailureToOutcome } from '../../lib/pipeline/failure-policy';
import { normalize } from '../../lib/subscribe/normalize';
import { FakeClock } from '../support/fake-clock';

export const HANDLER = 'Billing.charge';
export const QUEUE = 'billing';

export interface MessageParts {
  readonly content?: string | Buffer;
  readonly headers?: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly exchange?: string;
  readonly routingKey?: string;
  readonly redelivered?: boolean;
  readonly deliveryTag?: number;
}

/** A message as amqplib delivers it; by default one that was published to an exchange. */
export function aMessage(parts: MessageParts = {}): IncomingMessage {
  const { content = '{}', properties, exchange = 'orders', routingKey = 'order.paid' } = parts;
  const message: unknown = {
    content: Buffer.from(content as string),
    fields: {
      consumerTag: 'tag',
      deliveryTag: parts.deliveryTag ?? 1,
      redelivered: parts.redelivered ?? false,
      exchange,
      routingKey,
    },
    properties: { ...properties, headers: 'headers' in parts ? parts.headers : {} },
  };
  return message as IncomingMessage;
}

/** A message that this library republished to its queue. */
export function aRepublishedMessage(
  headers: Readonly<Record<string, unknown>> = {},
): IncomingMessage {
  return aMessage({
    exchange: '',
    routingKey: QUEUE,
    headers: { 'x-settle-queue': QUEUE, ...headers },
  });
}

export function aSubscription(
  options: SubscribeOptions = {},
  defaults?: SubscribeDefaults,
): SubscriptionMetadata {
  return normalize(HANDLER, { queue: QUEUE, ...options }, defaults);
}

export function aDelivery(
  options: SubscribeOptions = {},
  message: IncomingMessage = aMessage(),
  attempt = 1,
): DeliveryRecord {
  return new DeliveryRecord(aSubscription(options), message, QUEUE, attempt);
}

/** Replaces the policies in tests of one stage: throws the failure itself. */
export const rethrowing: FailureToOutcome = (failed) => {
  throw failed;
};

export interface Line {
  readonly level: 'log' | 'warn' | 'error' | 'debug';
  readonly text: string;
  /** The arguments after the text: the stack, if any, and the context. */
  readonly rest: readonly unknown[];
}

/** A logger that records its lines. */
export class RecordingLogger implements LoggerService {
  readonly lines: Line[] = [];

  log = this.#recorder('log');
  warn = this.#recorder('warn');
  error = this.#recorder('error');
  debug = this.#recorder('debug');

  texts(level?: Line['level']): string[] {
    return this.lines.filter((line) => level === undefined || line.level === level).map(textOf);
  }

  #recorder(level: Line['level']): (text: unknown, ...rest: unknown[]) => void {
    return (text, ...rest) => {
      this.lines.push({ level, text: String(text), rest });
    };
  }
}

function textOf({ text }: Line): string {
  return text;
}

export function aLog(
  logger: LoggerService = new RecordingLogger(),
  clock = new FakeClock(),
): SubscriptionLog {
  return new SubscriptionLog(logger, HANDLER, clock);
}

/** Values that break careless code; handlers can throw them and options can contain them. */
export const oddValues: readonly (readonly [string, () => unknown])[] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['a string', () => 'out of paper'],
  ['a number', () => 42],
  ['a bigint', () => 10n],
  ['a symbol', () => Symbol('odd')],
  ['a function', () => () => 'odd'],
  ['an object without a prototype', () => Object.create(null)],
  ['a frozen object', () => Object.freeze({ code: 'FROZEN' })],
  ['a frozen error', () => Object.freeze(new Error('frozen'))],
  ['an error whose getters throw', () => withThrowingGetters(new Error('hidden'))],
  ['an error with a circular cause', circular],
  ['a proxy whose traps throw', throwingProxy],
  ['a revoked proxy', revokedProxy],
];

function withThrowingGetters(target: object): object {
  // The stack first: V8 reads name and message when it is replaced.
  for (const name of ['stack', 'name', 'message', 'cause', 'code', 'constructor', 'getStatus']) {
    Object.defineProperty(target, name, {
      get: () => {
        throw new TypeError(`${name} cannot be read`);
      },
    });
  }
  return target;
}

function circular(): Error {
  const error = new Error('circular') as Error & { cause?: unknown };
  error.cause = new Error('its cause', { cause: error });
  return error;
}

function throwingProxy(): object {
  const fail = (): never => {
    throw new TypeError('a trap threw');
  };
  return new Proxy(new Error('behind a proxy'), {
    get: fail,
    has: fail,
    ownKeys: fail,
    getPrototypeOf: fail,
    getOwnPropertyDescriptor: fail,
  });
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
