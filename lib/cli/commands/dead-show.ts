import type { DeadLetterDetails } from '../../dead-letters/dead-letter';
import { texts } from '../../log/texts';
import type { Size } from '../../model/size';
import { type ConnectionOptions, withConnection } from '../connection-options';
import { jsonOf } from '../json';
import type { RegisterCommand } from '../program';
import { wholeNumber } from '../selection-options';
import { styleOf } from '../style';
import { letterView } from '../views/letter-view';
import { withDeadLetters } from '../with-dead-letters';

interface ShowOptions extends ConnectionOptions {
  readonly scan?: number;
  readonly maxBody?: Size;
}

/** `nestjs-settle dead show <queue> <id>`: one message with its body, headers and history. */
export const registerShow: RegisterCommand = (program, { host }) => {
  const command = program
    .command('show')
    .description(texts.cliShow)
    .argument('<queue>', texts.cliQueue)
    .argument('<id>', texts.cliId)
    .option('--max-body <size>', texts.cliMaxBody)
    .option('--scan <count>', texts.cliScan, wholeNumber);
  withConnection(command).action(async (queue: string, id: string, options: ShowOptions) => {
    const { url, scan, maxBody, json } = options;
    const letter = await withDeadLetters(url, (deadLetters) =>
      deadLetters.get(queue, id, { scan, maxBody }),
    );
    if (letter === undefined) throw new Error(texts.cliNoSuchLetter(queue, id));
    host.out(json ? jsonOf(withText(letter)) : letterView(letter, styleOf(host)));
  });
};

// The bytes are in base64; a body of text is readable, too.
function withText(letter: DeadLetterDetails): object {
  const text = letter.body.toString();
  return Buffer.from(text).equals(letter.body) ? { ...letter, bodyText: text } : letter;
}
