import type { ConsumeMessage } from 'amqplib';

/** A message as the broker hands it over: amqplib's type, since handlers get it as it is. */
export type IncomingMessage = ConsumeMessage;
