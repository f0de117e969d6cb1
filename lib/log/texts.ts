import { applicationTexts } from './application-texts';
import { cliTexts } from './cli-texts';
import { consoleTexts } from './console-texts';
import { deadLetterTexts } from './dead-letter-texts';
import { descriptionTexts } from './description-texts';
import { messageTexts } from './message-texts';
import { optionTexts } from './option-texts';
import { rabbitmqTexts } from './rabbitmq-texts';
import { testingTexts } from './testing-texts';

/** Every text that this library shows to people. */
export const texts = {
  ...optionTexts,
  ...messageTexts,
  ...rabbitmqTexts,
  ...applicationTexts,
  ...consoleTexts,
  ...testingTexts,
  ...deadLetterTexts,
  ...cliTexts,
  ...descriptionTexts,
};
