import { texts } from '../../log/texts';
import type { RegisterCommand } from '../program';
import { registerDiscard } from './dead-discard';
import { registerList } from './dead-list';
import { registerReplay } from './dead-replay';
import { registerShow } from './dead-show';

/** `nestjs-settle dead`: the messages of dead-letter queues. */
export const registerDead: RegisterCommand = (program, context) => {
  const dead = program.command('dead').description(texts.cliDead);
  for (const register of [registerList, registerShow, registerReplay, registerDiscard]) {
    register(dead, context);
  }
};
