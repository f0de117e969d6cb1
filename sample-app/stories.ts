import type { Order } from './order';
import type { OrderEvent } from './orders';

/** One message, and what becomes of it. */
export interface Story {
  readonly title: string;
  readonly event: OrderEvent;
  readonly order: Order | Buffer;
  /** Whether the bank is closed when the first attempt asks. */
  readonly bankIsClosed?: boolean;
}

const good: Order = {
  number: 1,
  article: 'tea',
  card: 'valid',
  customer: { mail: 'ada@example.org' },
};

/** What the sample shows, in this order. */
export const stories: readonly Story[] = [
  {
    title: 'ack(), with work for after the settlement',
    event: 'order.paid',
    order: good,
  },
  {
    title: 'retryAfter(): the bank is closed for a moment',
    event: 'order.paid',
    order: { ...good, number: 2 },
    bankIsClosed: true,
  },
  {
    title: 'An error that a rule of onError turns into retryAfter, after the backoff',
    event: 'order.paid',
    order: { ...good, number: 3, card: 'slow once' },
  },
  {
    title: 'The same error until the attempts are used up',
    event: 'order.paid',
    order: { ...good, number: 4, card: 'always slow' },
  },
  {
    title: 'An ordinary error: onError says drop',
    event: 'order.paid',
    order: { ...good, number: 5, card: 'declined' },
  },
  {
    title: 'A payload that does not decode: the handler is not called',
    event: 'order.paid',
    order: Buffer.from('{ "number": 6, '),
  },
  {
    title: 'Nothing returned, which is ack()',
    event: 'order.placed',
    order: { ...good, number: 7 },
  },
  {
    title: 'retry(): again at once',
    event: 'order.placed',
    order: { ...good, number: 8, article: 'coffee' },
  },
  {
    title: 'drop(): refused for good',
    event: 'order.placed',
    order: { ...good, number: 9, article: 'unicorn' },
  },
  {
    title: 'A panic, that is a bug in the handler: its onPanic says drop',
    event: 'order.shipped',
    order: Buffer.from('{ "number": 10 }'),
  },
];
