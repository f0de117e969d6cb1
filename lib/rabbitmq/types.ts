import type { AmqpConnection } from '@golevelup/nestjs-rabbitmq';

/** What golevelup manages: reconnecting, and handing out amqplib's connection. */
export type ConnectionManager = AmqpConnection['managedConnection'];

/** amqplib's connection, as the manager hands it out. */
export type RawConnection = NonNullable<ConnectionManager['connection']>;

/** amqplib's channel. */
export type RawChannel = Awaited<ReturnType<RawConnection['createChannel']>>;

/** amqplib's channel with publisher confirms. */
export type RawConfirmChannel = Awaited<ReturnType<RawConnection['createConfirmChannel']>>;
