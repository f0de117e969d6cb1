// Checked by the compiler only: each line marked as an error has to be one.
import { Nack, RabbitHeader, RabbitPayload } from '@golevelup/nestjs-rabbitmq';
import { EMPTY, type Observable, of } from 'rxjs';
import { ack, drop, type Outcome, retry, retryAfter, Subscribe } from '../../lib';

export class WhatHandlersReturn {
  @Subscribe({ queue: 'q' })
  nothing(): void {}

  @Subscribe({ queue: 'q' })
  undefinedOnly(): undefined {}

  @Subscribe({ queue: 'q' })
  never(): never {
    throw drop();
  }

  @Subscribe({ queue: 'q' })
  outcome(): Outcome {
    return ack();
  }

  @Subscribe({ queue: 'q' })
  async promise(): Promise<void> {}

  @Subscribe({ queue: 'q' })
  async either(payload: { ready: boolean }): Promise<Outcome | void> {
    if (!payload.ready) return retryAfter('30s');
  }

  @Subscribe({ queue: 'q' })
  inferred(payload: { ready: boolean }) {
    return payload.ready ? ack() : retry();
  }

  @Subscribe({ queue: 'q' })
  nack(): Nack {
    return new Nack(true);
  }

  @Subscribe({ queue: 'q' })
  async nackOrNothing(): Promise<Nack | undefined> {
    return undefined;
  }

  @Subscribe({ queue: 'q' })
  stream(): Observable<Outcome> {
    return of(ack());
  }

  @Subscribe({ queue: 'q' })
  emptyStream(): Observable<never> {
    return EMPTY;
  }

  // @ts-expect-error A text is no outcome.
  @Subscribe({ queue: 'q' })
  text(): string {
    return 'ack';
  }

  // @ts-expect-error A promise of a number is none either.
  @Subscribe({ queue: 'q' })
  async number(): Promise<number> {
    return 1;
  }

  // @ts-expect-error An object that only looks a little like one is none.
  @Subscribe({ queue: 'q' })
  lookalike(): { kind: 'ack' } {
    return { kind: 'ack' };
  }

  // @ts-expect-error Neither is a boolean beside an outcome.
  @Subscribe({ queue: 'q' })
  async sometimes(): Promise<Outcome | boolean> {
    return true;
  }

  // @ts-expect-error A function that makes an outcome has not been called.
  @Subscribe({ queue: 'q' })
  uncalled(): () => Outcome {
    return ack;
  }

  // @ts-expect-error A stream of texts.
  @Subscribe({ queue: 'q' })
  textStream(): Observable<string> {
    return of('ack');
  }

  // @ts-expect-error A generator.
  @Subscribe({ queue: 'q' })
  *generator(): Generator<Outcome> {
    yield ack();
  }

  // @ts-expect-error A property is no method.
  @Subscribe({ queue: 'q' })
  property = (): void => undefined;

  // @ts-expect-error A symbol is no name of a method here.
  @Subscribe({ queue: 'q' })
  [Symbol.iterator](): void {}

  @Subscribe({ queue: 'q' })
  parameters(@RabbitPayload() _payload: string, @RabbitHeader('x') _header: string): void {}
}
