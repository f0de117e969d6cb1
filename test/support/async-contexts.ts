import { AsyncLocalStorage } from 'node:async_hooks';
import type {
  ExecutionContext,
  LoggerService,
  ModuleMetadata,
  NestInterceptor,
} from '@nestjs/common';
import { Injectable, type Type } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { ClsModule, type ClsService, ClsServiceManager } from 'nestjs-cls';
import {
  ack,
  type Delivery,
  type DeliveryInterceptor,
  drop,
  fixed,
  type Outcome,
  on,
  retry,
  retryAfter,
  type Settlement,
  Subscribe,
} from '../../lib';

/** What sets the context of a message. */
export const ways = [
  'an interceptor of deliveries',
  'an interceptor of Nest',
  "nestjs-cls's interceptor",
  "nestjs-cls's guard",
] as const;

type Way = (typeof ways)[number];

/** What the handler does with a message. */
export const jobs = ['ack', 'drop', 'retry', 'retryAfter', 'throw', 'time out'] as const;

export interface Job {
  readonly id: string;
  readonly does: (typeof jobs)[number];
}

const store = new AsyncLocalStorage<string>();

/** Whose context this is. */
function current(): string | undefined {
  return store.getStore() ?? ClsServiceManager.getClsService().get('id');
}

const setUp = (cls: ClsService, context: ExecutionContext): void =>
  cls.set('id', context.getArgByIndex<Job>(0).id);

@Injectable()
class StoringInterceptor implements NestInterceptor {
  intercept: NestInterceptor['intercept'] = (context, next) =>
    store.run(context.getArgByIndex<Job>(0).id, () => next.handle());
}

const storing: DeliveryInterceptor = ({ messageId }, next) => store.run(messageId ?? '', next);

/** Whose context each place that belongs to a message has seen. */
export class ContextRecorder {
  readonly seen: {
    readonly place: string;
    readonly of: string;
    readonly in: string | undefined;
  }[] = [];

  constructor(private readonly way: Way) {}

  /** Of the places so far, those that have seen the context of another message, or none. */
  get wrong(): readonly unknown[] {
    return this.seen.filter((one) => one.of !== one.in);
  }

  /** How many places have been recorded, by place. */
  get places(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { place } of this.seen) counts[place] = (counts[place] ?? 0) + 1;
    return counts;
  }

  get interceptors(): readonly DeliveryInterceptor[] {
    return this.way === 'an interceptor of deliveries' ? [storing] : [];
  }

  get imports(): NonNullable<ModuleMetadata['imports']> {
    if (this.way === "nestjs-cls's interceptor") {
      return [ClsModule.forRoot({ interceptor: { mount: true, setup: setUp } })];
    }
    if (this.way === "nestjs-cls's guard") {
      return [ClsModule.forRoot({ guard: { mount: true, setup: setUp } })];
    }
    return [];
  }

  /** The handler of a queue. */
  providers(queue: string): [Type, ...NonNullable<ModuleMetadata['providers']>] {
    const record = (place: string, of: string): void => this.#record(place, of);

    @Injectable()
    class Handler {
      @Subscribe({
        queue,
        prefetch: 100,
        timeout: '150ms',
        retry: { attempts: 2, backoff: fixed(20) },
        deadLetter: `${queue}.dead`,
        onError: [on((_error, { messageId }) => matches(record, messageId), 'skip'), 'drop'],
      })
      async handle(
        { id, does }: Job,
        _message: unknown,
        _headers: unknown,
        delivery: Delivery,
      ): Promise<Outcome> {
        record('handler', id);
        delivery.signal.addEventListener('abort', () => record('signal', id));
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (does === 'throw') throw new Error('failed');
        if (does === 'time out') return new Promise(() => undefined);
        const outcome = delivery.attempt === 2 ? ack() : outcomes[does]();
        return outcome.andAfter(() => record('andAfter', id));
      }
    }
    const isNest = this.way === 'an interceptor of Nest';
    return [
      Handler,
      ...(isNest ? [{ provide: APP_INTERCEPTOR, useClass: StoringInterceptor }] : []),
    ];
  }

  /** Listens to settlements. */
  readonly settled = ({ delivery, outcome }: Settlement): void =>
    this.#record(`event of ${outcome.kind}`, delivery.messageId ?? '');

  /** A logger that records the lines about messages. */
  readonly logger: LoggerService = {
    log: (line: string) => this.#line(line),
    warn: (line: string) => this.#line(line),
    error: (line: string) => this.#line(line),
    debug: (line: string) => this.#line(line),
  };

  #line(line: string): void {
    const [, id] = /message "([^"]+)"/.exec(line) ?? [];
    if (id !== undefined) this.#record('log line', id);
  }

  #record(place: string, of: string): void {
    this.seen.push({ place, of, in: current() });
  }
}

const outcomes = { ack, drop, retry, retryAfter };

function matches(record: (place: string, of: string) => void, messageId = ''): boolean {
  record('rule', messageId);
  return false;
}
