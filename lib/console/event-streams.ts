import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnModuleDestroy,
} from '@nestjs/common';
import type { Clock, Timer } from '../clock';
import { Overview, type SubscriptionView } from './overview';
import { CONSOLE_CLOCK } from './tokens';

/** How often changes are sent, in ms. */
const INTERVAL = 1_000;
/** After how many intervals without an event a comment is sent, so that no proxy closes the stream. */
const HEARTBEAT = 15;
/** How many pages can be open. */
export const MOST_STREAMS = 100;
/** How much may wait for a page that reads slowly, in bytes; it is closed then, and connects anew. */
const MOST_PENDING = 4 * 1024 * 1024;

/** The server-sent events of the open pages: one stream for each, all fed by one timer. */
@Injectable()
export class EventStreams implements OnModuleDestroy, BeforeApplicationShutdown {
  readonly #responses = new Set<ServerResponse>();
  /** The subscriptions as they were sent last, as JSON, by key. */
  #sent = new Map<string, string>();
  #timer: Timer | undefined;
  #idle = 0;
  #isClosed = false;

  constructor(
    private readonly overview: Overview,
    @Inject(CONSOLE_CLOCK) private readonly clock: Clock,
  ) {}

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get count(): number {
    return this.#responses.size;
  }

  /** Streams to a page until it or the application closes. */
  async open(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#responses.add(response);
    const forget = (): void => {
      this.#responses.delete(response);
      if (this.#responses.size === 0) this.#stop();
    };
    request.once('close', forget);
    response.once('close', forget);
    response.once('error', forget);
    request.socket.setNoDelay(true);
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    response.write('retry: 2000\n\n');
    await this.overview.refreshCounts();
    if (this.#isClosed || !this.#responses.has(response)) return;
    const subscriptions = this.overview.subscriptions();
    write(response, eventText('overview', { subscriptions }));
    if (this.#timer === undefined) {
      this.#sent = jsonOf(subscriptions);
      this.#schedule();
    }
  }

  /** Sends an event to every page. */
  send(name: string, data: unknown): void {
    const text = eventText(name, data);
    for (const response of this.#responses) write(response, text);
  }

  onModuleDestroy(): void {
    this.#close();
  }

  beforeApplicationShutdown(): void {
    this.#close();
  }

  // Before the server closes: it waits for open responses.
  #close(): void {
    this.#isClosed = true;
    this.#stop();
    for (const response of this.#responses) response.end(eventText('closing', {}));
    this.#responses.clear();
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #schedule(): void {
    this.#timer = this.clock.after(INTERVAL, () => this.#tick(), { background: true });
  }

  #tick(): void {
    // Counts that arrive later are sent with the next interval.
    void this.overview.refreshCounts();
    const subscriptions = this.overview.subscriptions();
    const present = jsonOf(subscriptions);
    const changed = subscriptions.filter(({ key }) => present.get(key) !== this.#sent.get(key));
    this.#sent = present;
    this.#idle = changed.length > 0 ? 0 : this.#idle + 1;
    if (changed.length > 0) this.send('changes', { subscriptions: changed });
    else if (this.#idle % HEARTBEAT === 0) {
      for (const response of this.#responses) write(response, ': still here\n\n');
    }
    this.#schedule();
  }
}

function jsonOf(subscriptions: readonly SubscriptionView[]): Map<string, string> {
  return new Map(subscriptions.map((one) => [one.key, JSON.stringify(one)]));
}

// JSON has no line break of its own.
function eventText(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function write(response: ServerResponse, text: string): void {
  if (response.writableLength > MOST_PENDING) response.destroy();
  else response.write(text);
}
