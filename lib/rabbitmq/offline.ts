import { AmqpConnection } from '@golevelup/nestjs-rabbitmq';

/** golevelup's methods that connect and declare, by name: they are not part of its types. */
interface Overridable {
  init?: unknown;
  setupInitChannel?: unknown;
}

interface Initialized {
  readonly initialized: { next(): void };
}

const prototype = AmqpConnection.prototype as unknown as Overridable;

/** From now on, the connections of this process are configured and never opened. */
export function neverConnect(): void {
  prototype.init = async () => undefined;
}

/** From now on, the connections of this process are opened and declare nothing by themselves. */
export function neverDeclare(): void {
  prototype.setupInitChannel = async function setupInitChannel(
    this: Initialized,
    _channel: unknown,
    _name: unknown,
    { default: isDefault }: { readonly default?: boolean },
  ): Promise<void> {
    if (isDefault) this.initialized.next();
  };
}
