import type { Provider } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { type Clock, systemClock } from './clock';
import { CLOCK, CONNECTIONS } from './nest/tokens';
import { GolevelupConnection, isAmqpConnection } from './rabbitmq/golevelup';

/** Find the connections of the application. The module that has them imports `DiscoveryModule`. */
export const connectionProviders: readonly Provider[] = [
  { provide: CLOCK, useValue: systemClock },
  {
    provide: CONNECTIONS,
    useFactory: (discovery: DiscoveryService, clock: Clock) => () => {
      const instances = discovery.getProviders().map(({ instance }) => instance as unknown);
      return [...new Set(instances.filter(isAmqpConnection))].map(
        (connection) => new GolevelupConnection(connection, clock),
      );
    },
    inject: [DiscoveryService, CLOCK],
  },
];
