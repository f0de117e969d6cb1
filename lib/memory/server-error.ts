/** What a server answers when it refuses: the reply code beside the text, as amqplib gives it. */
export class ServerError extends Error {
  constructor(
    readonly code: number,
    text: string,
  ) {
    super(text);
  }
}
