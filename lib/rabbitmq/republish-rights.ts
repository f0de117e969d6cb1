import { randomInt, randomUUID } from 'node:crypto';
import { type ConsumedSubscription, methodsOf } from '../amqp/consumed-subscription';
import { isForbidden } from '../amqp/refusal';
import { hasDelayingPolicy, waitingQueueOf } from '../amqp/waiting-queues';
import { type Clock, within } from '../clock';
import { waitingQueueName } from '../delivery/waiting-queue';
import { missingRightOf } from '../log/missing-right';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { connectionErrorOf } from './connection-error';
import type { ManagedConnection } from './managed-connection';
import { RepublishChannel } from './republish-channel';
import { onScratchChannel } from './scratch-channel';
import { SecondConnection } from './second-connection';
import type { RawConnection } from './types';

const OPENING_LIMIT = 10_000;
const REPLY_LIMIT = 5_000;
const CLOSING_LIMIT = 1_000;
/** From here on no number is the delay of a waiting queue. */
const LEAST_NUMBER = 100_000_000_000;

/**
 * Finds out at startup whether the user may republish: publish to the default exchange, and declare waiting
 * queues. RabbitMQ asks for these rights when a queue that dead-letters to the default exchange is declared; so
 * nothing is published on a connection that consumes.
 */
export class RepublishRights {
  readonly #closing = new AbortController();
  readonly #checks = new Map<ConsumedSubscription, Promise<void>>();
  /** The refusal of the default exchange, the same for all subscriptions of the connection. */
  #publishing: Promise<unknown> | undefined;

  constructor(
    private readonly application: ManagedConnection,
    private readonly clock: Clock,
  ) {}

  /** Checks a subscription, the first time it is called; writes a line for each right that is missing. */
  check(subscription: ConsumedSubscription, log: SubscriptionLog): void {
    if (this.#checks.has(subscription)) return;
    // It ends early if the connection does: the first message that is republished tells then.
    const checking = this.#check(subscription, log).catch(() => undefined);
    this.#checks.set(subscription, checking);
  }

  /** Ends the checks within `limitMs`. Never rejects. */
  async close(limitMs: number): Promise<void> {
    this.#closing.abort();
    await within(this.clock, limitMs, Promise.all(this.#checks.values()));
  }

  async #check(subscription: ConsumedSubscription, log: SubscriptionLog): Promise<void> {
    const raw = this.application.current;
    const { queue } = subscription;
    const methods = methodsOf(subscription).filter(republishes);
    if (raw === undefined || methods.length === 0) return;
    const waits = methods.filter((method) => method.declare.waiting && mayDelay(method));
    if (queue !== undefined) await logWaitingQueues(raw, queue, waits, log);
    this.#publishing ??= this.#publishRefusal(raw);
    const refusal = await this.#publishing;
    if (refusal !== undefined) log.write('missing-permission', texts.cannotPublish(queue, refusal));
  }

  async #publishRefusal(raw: RawConnection): Promise<unknown> {
    const refusal = await declareRefusal(raw, '');
    if (refusal === undefined || missingRightOf(refusal)?.kind === 'exchange') return refusal;
    return this.#returnedRefusal();
  }

  // A user who may not declare queues learns it by a message to a queue that does not exist.
  async #returnedRefusal(): Promise<unknown> {
    const { signal } = this.#closing;
    const own = new SecondConnection(this.application, this.clock);
    const end = (): void => void own.close(CLOSING_LIMIT);
    signal.addEventListener('abort', end, { once: true });
    try {
      const raw = await own.raw(OPENING_LIMIT);
      const options = { isAlone: true, connectionError: connectionErrorOf(raw) };
      const channel = new RepublishChannel(await raw.createConfirmChannel(), options, this.clock);
      const message = { body: Buffer.alloc(0), properties: {}, headers: {} };
      const limits = { limitMs: REPLY_LIMIT, lost: signal };
      const result = await channel.publish(`settle.${randomUUID()}`, message, limits);
      return result.status === 'closed' && isForbidden(result.error) ? result.error : undefined;
    } finally {
      signal.removeEventListener('abort', end);
      await own.close(CLOSING_LIMIT);
    }
  }
}

async function logWaitingQueues(
  raw: RawConnection,
  queue: string,
  methods: readonly SubscriptionMetadata[],
  log: SubscriptionLog,
): Promise<void> {
  for (const type of new Set(methods.map((method) => waitingQueueOf(method, queue, 1).type))) {
    const name = waitingQueueName(queue, type, LEAST_NUMBER + randomInt(LEAST_NUMBER));
    const refusal = await declareRefusal(raw, name);
    if (missingRightOf(refusal)?.kind !== 'queue') continue;
    const pattern = name.replace(/\d+$/, '<ms>');
    log.write('missing-permission', texts.cannotDeclareWaiting(queue, pattern, refusal));
  }
}

/** The refusal if the user may not declare a queue of this name that dead-letters to the default exchange. */
async function declareRefusal(raw: RawConnection, name: string): Promise<unknown> {
  const options = {
    durable: false,
    exclusive: true,
    deadLetterExchange: '',
    arguments: { 'x-queue-type': 'classic' },
  };
  try {
    await onScratchChannel(raw, async (channel) => {
      const { queue } = await channel.assertQueue(name, options);
      await channel.deleteQueue(queue);
    });
    return undefined;
  } catch (error) {
    if (isForbidden(error)) return error;
    throw error;
  }
}

function republishes(method: SubscriptionMetadata): boolean {
  const { noAck, retry, deadLetter } = method;
  if (noAck) return false;
  return mayDelay(method) || retry?.by === 'client' || deadLetter?.by === 'client';
}

function mayDelay(method: SubscriptionMetadata): boolean {
  return method.retry?.by !== 'broker' && (method.retry !== undefined || hasDelayingPolicy(method));
}
