import type { TestingModuleBuilder } from '@nestjs/testing';
import type { TestProperties, TestQueue } from './test-settlement';

/** What a test drives: the server in memory, or a real one. */
export interface TestBroker {
  /** Puts the broker in the place of what the application would connect to. Called before `compile`. */
  prepare(builder: TestingModuleBuilder): void;
  /** Publishes; says whether any queue took the message. */
  publish(
    exchange: string,
    routingKey: string,
    body: Buffer,
    properties: TestProperties,
  ): Promise<boolean>;
  queue(name: string): Promise<TestQueue>;
  /** Whether nothing moves in the queues before time passes or somebody acts. */
  isSettled(): Promise<boolean>;
  /** Lets time pass; `settle` is to be awaited after each step. */
  advance(ms: number, settle: () => Promise<void>): Promise<void>;
  /** Closes the application, and gives back what the broker holds. */
  close(closeApplication: () => Promise<void>): Promise<void>;
}
