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
    /** @default '' */
    readonly routingKey?: string;
  }[];
}

/** Waits until nothing is under way any more. */
export interface Quiet {
  /** How many deliveries are in flight. */
  readonly inFlight: number;
  /**
   * @param isLikely whether anything is probably under way; default: true.
   * @param signal ends the wait.
   */
  wait(options?: { readonly isLikely?: boolean; readonly signal?: AbortSignal }): Promise<void>;
}

/** The broker of a test: the server in memory, or a real one. */
export interface TestBroker {
  /** Replaces what the application would connect to. Called before `compile`. */
  prepare(builder: TestingModuleBuilder): void;
  /** Declares what exists before any subscription starts. Called between `compile` and `init`. */
  declare(topology: TestTopology): Promise<void>;
  /** Publishes; resolves with whether any queue took the message. Rejects with the server's refusal. */
  publish(
    exchange: string,
    routingKey: string,
    body: Buffer,
    properties: TestProperties,
  ): Promise<boolean>;
  /** A queue, also after `close`. Rejects if it does not exist. */
  queue(name: string): Promise<TestQueue>;
  /** Gives whatever is under way a turn. */
  turn(): Promise<void>;
  /**
   * Whether nothing happens in the queues before time passes or somebody acts.
   * @param consumed the queues that the application consumes now.
   */
  isSettled(consumed: readonly string[]): Promise<boolean>;
  /** Lets time pass; waits for `quiet` before the first step and after each. */
  advance(ms: number, quiet: Quiet): Promise<void>;
  /** Closes the application, and what the broker holds for the test. */
  close(closeApplication: () => Promise<void>, quiet: Quiet): Promise<void>;
}
