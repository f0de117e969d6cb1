import type { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { type Clock, resultWithin } from '../clock';
import { messages } from '../outcome/messages';
import type { SubscriptionLog } from '../subscription/log';
import type { Subscription } from '../subscription/subscription';
import { CopyConnection } from './copy-connection';
import { forbidsAFeature } from './refusal';
import { declareTopology } from './topology';

const OPENING_LIMIT = 10_000;
const DECLARING_LIMIT = 10_000;
const CLOSING_LIMIT = 1_000;

/**
 * Declares a subscription on a connection of its own, to learn whether it is this declaration for which
 * the server ends connections: it does so over what it no longer permits, and says only which feature
 * that is. Resolves with the refusal; `undefined` where the server takes the declaration, refuses it in
 * another way, can't be reached, or `signal` aborts.
 */
export async function tryAlone(
  application: AmqpConnection,
  subscription: Subscription,
  log: SubscriptionLog,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Error | undefined> {
  const own = new CopyConnection(application, clock);
  const end = (): void => void own.close(CLOSING_LIMIT);
  signal.addEventListener('abort', end, { once: true });
  try {
    const raw = await own.raw(OPENING_LIMIT);
    if (raw === undefined) return undefined;
    const ended = new Promise<Error | undefined>((resolve) => raw.once('close', resolve));
    const declaring = declareTopology(raw, subscription, log);
    const queue = await resultWithin(clock, DECLARING_LIMIT, declaring);
    if (queue !== undefined) return undefined;
    const reason = await resultWithin(clock, CLOSING_LIMIT, ended);
    if (!forbidsAFeature(reason)) return undefined;
    return new Error(messages.endsConnections(reason), { cause: reason });
  } finally {
    signal.removeEventListener('abort', end);
    await own.close(CLOSING_LIMIT);
  }
}
