import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost, ModuleRef, ModulesContainer, NestApplicationContext } from '@nestjs/core';
import { type Clock, within } from '../clock';
import { CLOCK } from './tokens';

/** How long servers may take to close before the last hooks run without them, in ms. */
const SERVERS_LIMIT = 10_000;

type Container = ConstructorParameters<typeof NestApplicationContext>[0];

interface Server {
  close?(): unknown;
}

/** The application that this module is part of, as far as it can be reached from inside. */
@Injectable()
export class RunningApplication implements OnModuleDestroy {
  #isClosing = false;

  constructor(
    private readonly modules: ModuleRef,
    private readonly container: ModulesContainer,
    private readonly http: HttpAdapterHost,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Whether a close of the application has begun, by whomever. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  onModuleDestroy(): void {
    this.#isClosing = true;
  }

  /**
   * Closes the application as its own `close()` does: the hooks of all modules in Nest's order, its servers
   * before the last of them. Rejects with what a hook throws.
   */
  close(): Promise<void> {
    // The container is protected, and all that a second context of the same application needs.
    const container = Reflect.get(this.modules, 'container') as Container;
    return new ClosingContext(container, () => this.#closeServers()).close();
  }

  async #closeServers(): Promise<void> {
    const servers: (Server | undefined)[] = [this.http.httpAdapter];
    // Microservices of a hybrid application; already known ones are emitted at once.
    const registry = this.container.getRpcTargetRegistry<Server>();
    registry.subscribe((server) => servers.push(server)).unsubscribe();
    const closing = Promise.allSettled(servers.map(async (server) => server?.close?.()));
    await within(this.clock, SERVERS_LIMIT, closing);
  }
}

class ClosingContext extends NestApplicationContext {
  constructor(
    container: Container,
    private readonly closeServers: () => Promise<void>,
  ) {
    super(container);
  }

  protected override dispose(): Promise<void> {
    return this.closeServers();
  }
}
