export { SettleTest } from './settle-test';
export type { ProviderOverride, SettleTestBuilder, SettleTestOptions } from './settle-test-builder';
export type { TestTopology } from './test-broker';
export type {
  TestMessage,
  TestProperties,
  TestQueue,
  TestRepublished,
  TestSettlement,
} from './test-settlement';
