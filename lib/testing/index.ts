export { SettleTest } from './settle-test';
export type { SettleTestBuilder, SettleTestOptions } from './settle-test-builder';
export type { TestTopology } from './test-broker';
export type {
  TestMessage,
  TestProperties,
  TestQueue,
  TestRepublished,
  TestSettlement,
} from './test-settlement';
