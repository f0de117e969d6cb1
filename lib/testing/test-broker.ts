import type { TestingModuleBuilder } from '@nestjs/testing';
import type { TestProperties, TestQueue } from './test-settlement';

/** What other services have declared on the server before the application starts. */
export interface TestTopology {
  readonly exchanges?: readonly {
    readonly name: string;
    readonly type: 'direct' | 'topic' | 'fanout' | 'headers';
  }[];
  /** Durable queues; with an exchange, bound to it. */
  readonly queues?: readonly {
    readonly name: string;
    readonly arguments?: Readonly<Record<string, unknown>>;
    readonly exchange?: string;
    /** Default: the empty key. */
    readonly routingKey?: string;
  }[];
}

/**
 * Lets whatever is under way run until nothing changes.
 * @param isLikely false where most probably nothing is under way.
 */
export type Settle = (isLikely?: boolean) => Promise<void>;

/** What a test drives: the server in memory, or a real one. */
export interface TestBroker {
  /** Puts the broker in the place of what the application would connect to. Called before `compile`. */
  prepare(builder: TestingModuleBuilder): void;
  /** Declares what is there before any subscription starts. Called between `compile` and `init`. */
  declare(existing: TestTopology): Promise<void>;
  /** Publishes; says whether any queue took the message. */
  publish(
    exchange: string,
    routingKey: string,
    body: Buffer,
    properties: TestProperties,
  ): Promise<boolean>;
  queue(name: string): Promise<TestQueue>;
  /** Gives whatever is under way a turn. */
  turn(): Promise<void>;
  /**
   * Whether nothing moves in the queues before time passes or somebody acts.
   * @param consumed the queues from which the application takes messages now.
   */
  isSettled(consumed: readonly string[]): Promise<boolean>;
  /** Lets time pass; `settle` is to be awaited before the first step and after each. */
  advance(ms: number, settle: Settle): Promise<void>;
  /** Closes the application, and gives back what the broker holds. */
  close(closeApplication: () => Promise<void>): Promise<void>;
}
