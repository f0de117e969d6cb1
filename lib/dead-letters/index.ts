export type { Size } from '../model/size';
export type {
  DeadLetter,
  DeadLetterDetails,
  DeadLetterEvent,
  DeadLetterOrigin,
} from './dead-letter';
export { DeadLetters } from './dead-letters';
export { type DeadLettersModuleOptions, SettleDeadLettersModule } from './dead-letters.module';
export type { DeadLetterFilter } from './filter';
export type { DeadLetterGroup } from './groups';
export type {
  DiscardOptions,
  GetOptions,
  ListOptions,
  ReplayOptions,
  ScanOptions,
  SelectOptions,
} from './options';
export type {
  DeadLetterList,
  DiscardResult,
  ReplayFailure,
  ReplayProgress,
  ReplayResult,
  RunEnd,
  ScanResult,
} from './results';
