import type { AmqpConnection } from '@golevelup/nestjs-rabbitmq';

/** The manager of golevelup's connection, which reconnects. */
export type ConnectionManager = AmqpConnection['managedConnection'];

/** amqplib's connection. */
export type RawConnection = NonNullable<ConnectionManager['connection']>;

/** amqplib's channel. */
export type RawChannel = Awaited<ReturnType<RawConnection['createChannel']>>;

/** amqplib's channel with publisher confirms. */
export type RawConfirmChannel = Awaited<ReturnType<RawConnection['createConfirmChannel']>>;
