export * from './build';
export type { FrameDetails } from './details';
export type { WaitOptions } from './expectations';
export type { FrameWaitOptions } from './frame-log';
export {
  type Direction,
  type Frame,
  FrameError,
  FrameParser,
  type FramePredicate,
  type RawFrame,
} from './frames';
export type { Hold } from './hold';
export type { FrameName, MethodName } from './methods';
export { type FramePattern, fromClient, fromServer } from './predicates';
export { AmqpProxy } from './proxy';
export type {
  CutOptions,
  DropOptions,
  OrderOptions,
  Replace,
  Replacement,
  Rule,
  RuleOptions,
} from './rules';
