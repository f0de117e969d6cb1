import type { Order } from './order';
import type { OrderEvent } from './orders';

/** One message and its result. */
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
    title: 'ack(), with a callback after the settlement',
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
    title: 'The same error until all attempts are used',
    event: 'order.paid',
    order: { ...good, number: 4, card: 'always slow' },
  },
  {
    title: 'Another error: onError is drop',
    event: 'order.paid',
    order: { ...good, number: 5, card: 'declined' },
  },
  {
    title: 'An invalid payload: the handler is not called',
    event: 'order.paid',
    order: Buffer.from('{ "number": 6, '),
  },
  {
    title: 'Nothing returned, which is ack()',
    event: 'order.placed',
    order: { ...good, number: 7 },
  },
  {
    title: 'retry(): retried at once',
    event: 'order.placed',
    order: { ...good, number: 8, article: 'coffee' },
  },
  {
    title: 'drop(): rejected for good',
    event: 'order.placed',
    order: { ...good, number: 9, article: 'unicorn' },
  },
  {
    title: 'A panic, i.e. a bug in the handler: onPanic is drop',
    event: 'order.shipped',
    order: Buffer.from('{ "number": 10 }'),
  },
];
