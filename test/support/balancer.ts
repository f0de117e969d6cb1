import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A TCP balancer in front of several servers: a new connection goes where `target` leads at that moment. */
export class Balancer {
  readonly #sockets = new Set<Socket>();
  /** How many connections each server has been given, by its URL. */
  readonly given = new Map<string, number>();

  private constructor(
    private readonly server: ReturnType<typeof createServer>,
    /** The URL of the server that gets the next connection. */
    public target: () => string,
  ) {
    server.on('connection', (socket) => this.#join(socket));
  }

  /** A balancer for one test; stopped after it. */
  static async start(target: () => string): Promise<Balancer> {
    const server = createServer({ noDelay: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const balancer = new Balancer(server, target);
    onTestFinished(async () => {
      balancer.cutAll();
      await new Promise((resolve) => server.close(resolve));
    });
    return balancer;
  }

  /** A server's URL with the balancer's own port. */
  urlFor(server: string): string {
    const url = new URL(server);
    url.port = String((this.server.address() as AddressInfo).port);
    return url.href;
  }

  /** Destroys every connection. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(socket: Socket): void {
    const url = this.target();
    this.given.set(url, (this.given.get(url) ?? 0) + 1);
    const { hostname, port } = new URL(url);
    const onward = connect({ host: hostname, port: Number(port), noDelay: true });
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      this.#sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }
}
