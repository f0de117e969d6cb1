import type { RegisterCommand } from '../program';
import { registerAsyncApi } from './asyncapi';
import { registerCheck } from './check';
import { registerDead } from './dead';
import { registerDescribe } from './describe';
import { registerQueues } from './queues';
import { registerTopology } from './topology';

/** The commands, in the order of the help. */
export const commands: readonly RegisterCommand[] = [
  registerDead,
  registerQueues,
  registerDescribe,
  registerCheck,
  registerTopology,
  registerAsyncApi,
];
