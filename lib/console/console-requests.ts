import { Inject, Injectable } from '@nestjs/common';
import { replyCodeOf } from '../amqp/refusal';
import { groupKeyOf } from '../dead-letters/groups';
import type { ListOptions } from '../dead-letters/options';
import type { ActiveSubscription } from '../lifecycle/active-subscription';
import { errorText } from '../log/format';
import { texts } from '../log/texts';
import { type DeadLetterQueue, DeadLetterQueues } from './dead-letter-queues';
import { type HttpRequest, type HttpResponse, sendJson, urlOf } from './http';
import { messageViewOf } from './message-view';
import type { ConsoleAction, ResolvedConsoleOptions } from './options';
import { Overview } from './overview';
import { BadRequest, countOf, fieldsOf, selectionOf, textOf, whereOf } from './requests';
import { Tasks, viewOf } from './tasks';
import { CONSOLE_OPTIONS } from './tokens';

/** How many dead letters the page lists. */
const MOST_LISTED = 500;
const MOST_BODY = '64KiB';

class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** What the page reads and does, as JSON. */
@Injectable()
export class ConsoleRequests {
  readonly #reading = new Map<string, Promise<unknown>>();

  constructor(
    @Inject(CONSOLE_OPTIONS) private readonly options: ResolvedConsoleOptions,
    private readonly overview: Overview,
    private readonly queues: DeadLetterQueues,
    private readonly tasks: Tasks,
  ) {}

  /** Replies with what the work resolves with; what it throws becomes a status. */
  async answer(response: HttpResponse, work: () => Promise<unknown>, status = 200): Promise<void> {
    try {
      sendJson(response, status, await work());
    } catch (error) {
      sendJson(response, statusOf(error), {
        error:
          error instanceof Refused || error instanceof BadRequest
            ? error.message
            : errorText(error),
      });
    }
  }

  /**
   * As `answer`, for a request that changes something: 405 unless the options allow it, 403 unless the page
   * has sent it.
   */
  act(
    action: ConsoleAction,
    request: HttpRequest,
    response: HttpResponse,
    work: (fields: Readonly<Record<string, unknown>>) => Promise<unknown>,
  ): Promise<void> {
    return this.answer(response, async () => {
      if (!this.options.allow.has(action)) {
        response.header('allow', '');
        throw new Refused(405, texts.consoleReadOnly(action));
      }
      requireOwnPage(request);
      return work(fieldsOf(request.body));
    });
  }

  async state(): Promise<object> {
    await this.overview.refreshCounts();
    const { allow, showPayload } = this.options;
    const { list: tasks } = this.tasks;
    const subscriptions = this.overview.subscriptions();
    return { allow: [...allow], showPayload, tasks, subscriptions };
  }

  async list(request: HttpRequest): Promise<unknown> {
    const { queue: key, ...filter } = queryOf(request);
    const queue = this.#queue(key);
    const where = whereOf(filter);
    return this.#shared(JSON.stringify([queue.key, where]), async () => {
      const options: ListOptions = { where, limit: MOST_LISTED };
      const found = await this.queues.serviceOf(queue).list(queue.name, options);
      const letters = found.letters.map((one) => ({ ...one, group: groupKeyOf(one) }));
      return { ...found, letters };
    });
  }

  async message(request: HttpRequest): Promise<unknown> {
    const { queue: key, id = '' } = queryOf(request);
    const queue = this.#queue(key);
    const service = this.queues.serviceOf(queue);
    const details = await service.get(queue.name, id, { maxBody: MOST_BODY });
    if (details === undefined) throw new Refused(404, texts.consoleNoSuchMessage);
    return messageViewOf(details, this.options.showPayload);
  }

  async replay(fields: Readonly<Record<string, unknown>>): Promise<unknown> {
    const queue = this.#queue(fields['queue']);
    const to = textOf(fields, 'to');
    if (to !== undefined && !this.queues.isConsumed(queue, to)) {
      throw new BadRequest(texts.consoleUnknownTarget(to));
    }
    const options = { ...selectionOf(fields), to, rate: countOf(fields, 'rate') };
    const service = this.queues.serviceOf(queue);
    if (fields['dryRun'] === true) {
      return viewOf(await service.replay(queue.name, { ...options, dryRun: true }));
    }
    const expected = countOf(fields, 'expected');
    return this.tasks.start({ kind: 'replay', queue, expected }, (control) =>
      service.replay(queue.name, { ...options, ...control }),
    );
  }

  async discard(fields: Readonly<Record<string, unknown>>): Promise<unknown> {
    const queue = this.#queue(fields['queue']);
    const selection = selectionOf(fields);
    const service = this.queues.serviceOf(queue);
    if (fields['dryRun'] === true) {
      return viewOf(await service.discard(queue.name, { ...selection, dryRun: true }));
    }
    const confirm = textOf(fields, 'confirm');
    if (confirm === undefined) {
      throw new BadRequest(texts.consoleBadRequest('confirm', 'the token of a dry run'));
    }
    const expected = countOf(fields, 'expected');
    return this.tasks.start({ kind: 'discard', queue, expected }, ({ signal }) =>
      service.discard(queue.name, { ...selection, confirm, signal }),
    );
  }

  async cancel(fields: Readonly<Record<string, unknown>>): Promise<unknown> {
    return { isCancelled: this.tasks.cancel(fields['id']) };
  }

  /** Does not wait until nothing is in flight: the page shows when that is so. */
  async pause(fields: Readonly<Record<string, unknown>>): Promise<unknown> {
    // Never rejects: a consumer that can't be cancelled no longer exists.
    void this.#subscription(fields['key']).pause();
    return {};
  }

  async resume(fields: Readonly<Record<string, unknown>>): Promise<unknown> {
    this.#subscription(fields['key']).resume();
    return {};
  }

  #queue(key: unknown): DeadLetterQueue {
    const queue = this.queues.find(key);
    if (queue === undefined) throw new Refused(404, texts.consoleNoSuchQueue);
    return queue;
  }

  #subscription(key: unknown): ActiveSubscription {
    const found = this.overview.find(key);
    if (found === undefined) throw new Refused(404, texts.consoleNoSuchSubscription);
    return found;
  }

  // Pages that ask for the same at the same time read the queue once.
  #shared(key: string, work: () => Promise<unknown>): Promise<unknown> {
    const running = this.#reading.get(key);
    if (running !== undefined) return running;
    const reading = work().finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }
}

function queryOf(request: HttpRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(urlOf(request).searchParams);
}

// Another site can send neither the header nor the page's own origin.
function requireOwnPage({ headers }: HttpRequest): void {
  const site = headers['sec-fetch-site'];
  const isOwn = site === undefined || site === 'same-origin';
  if (headers['x-settle-console'] === undefined || !isOwn) {
    throw new Refused(403, texts.consoleForeignRequest);
  }
}

function statusOf(error: unknown): number {
  if (error instanceof Refused) return error.status;
  // The options of a service that are not valid.
  if (error instanceof BadRequest || error instanceof TypeError) return 400;
  return replyCodeOf(error) === 404 ? 404 : 502;
}
