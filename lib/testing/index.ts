export type { ConformanceAdapter, ConformanceScenario } from './conformance/adapter';
export { conformanceScenarios } from './conformance/index';
export { SettleTest } from './settle-test';
export type { SettleTestBuilder, SettleTestOptions } from './settle-test-builder';
export type { ExistingTopology } from './test-broker';
export type {
  TestCopy,
  TestMessage,
  TestProperties,
  TestQueue,
  TestSettlement,
} from './test-settlement';
