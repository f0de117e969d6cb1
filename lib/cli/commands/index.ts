import type { RegisterCommand } from '../program';
import { registerDead } from './dead';
import { registerQueues } from './queues';

/** The commands, in the order of the help. */
export const commands: readonly RegisterCommand[] = [registerDead, registerQueues];
