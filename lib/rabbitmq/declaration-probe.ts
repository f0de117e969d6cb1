import type { ConsumedSubscription } from '../amqp/consumed-subscription';
import { forbidsAFeature } from '../amqp/refusal';
import { declareTopology } from '../amqp/topology';
import { type Clock, resultWithin } from '../clock';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { ManagedConnection } from './managed-connection';
import { topologyClientOf } from './scratch-channel';
import { SecondConnection } from './second-connection';

const OPENING_LIMIT = 10_000;
const DECLARING_LIMIT = 10_000;
const CLOSING_LIMIT = 1_000;

/**
 * Declares a subscription on a connection of its own, to learn whether the server closes connections
 * because of this declaration: it does so for features that it no longer permits. Resolves with the
 * refusal; `undefined` if the server accepts the declaration, refuses it in another way, can't be
 * reached, or `signal` aborts.
 */
export async function probeDeclaration(
  application: ManagedConnection,
  subscription: ConsumedSubscription,
  log: SubscriptionLog,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Error | undefined> {
  const own = new SecondConnection(application, clock);
  const end = (): void => void own.close(CLOSING_LIMIT);
  signal.addEventListener('abort', end, { once: true });
  try {
    const raw = await own.raw(OPENING_LIMIT).catch(() => undefined);
    if (raw === undefined) return undefined;
    const ended = new Promise<Error | undefined>((resolve) => raw.once('close', resolve));
    const declaring = declareTopology(topologyClientOf(raw), subscription, log);
    const queue = await resultWithin(clock, DECLARING_LIMIT, declaring);
    if (queue !== undefined) return undefined;
    const reason = await resultWithin(clock, CLOSING_LIMIT, ended);
    if (!forbidsAFeature(reason)) return undefined;
    return new Error(texts.endsConnections(reason), { cause: reason });
  } finally {
    signal.removeEventListener('abort', end);
    await own.close(CLOSING_LIMIT);
  }
}
