import { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import type { QueueClient } from '../amqp/queue-client';
import { type Clock, within } from '../clock';
import { texts } from '../log/texts';
import { GolevelupConnection } from './golevelup';

const OPENING_LIMIT = 10_000;
const CLOSING_LIMIT = 1_000;

const SILENT = { log: () => {}, error: () => {}, warn: () => {} };

/** A connection to the server at an URL, for use without an application. */
export class UrlConnection {
  readonly #connection: GolevelupConnection;

  private constructor(
    private readonly application: AmqpConnection,
    private readonly clock: Clock,
  ) {
    this.#connection = new GolevelupConnection(application, clock);
  }

  /** Rejects with the reason if the first attempt fails, or takes longer than 10 s. */
  static async open(url: string, clock: Clock): Promise<UrlConnection> {
    const application = new AmqpConnection({
      uri: url,
      logger: SILENT,
      connectionInitOptions: { wait: false, skipConnectionFailedLogging: true },
      // Without it, opening and closing waits for the delayed acknowledgements of TCP.
      connectionManagerOptions: { connectionOptions: { noDelay: true, timeout: OPENING_LIMIT } },
    });
    const initialized = application.init();
    const { managedConnection } = application;
    const connected = new Promise<void>((resolve, reject) => {
      managedConnection.once('connect', () => resolve());
      managedConnection.once('connectFailed', ({ err }) => reject(err));
      initialized.catch(reject);
    });
    const connection = new UrlConnection(application, clock);
    const inTime = await within(clock, OPENING_LIMIT, connected);
    try {
      if (!inTime) throw new Error(texts.notConnectedInTime);
      await connected;
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  openQueueClient(): Promise<QueueClient> {
    return this.#connection.openQueueClient();
  }

  /** Never rejects. */
  async close(): Promise<void> {
    // The manager arms its timer for another try after its event: closed before that, it would keep it.
    await Promise.resolve();
    await within(this.clock, CLOSING_LIMIT, this.application.managedConnection.close());
  }
}
