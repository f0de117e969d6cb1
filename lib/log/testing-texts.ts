import { counted } from './format';

/** The testing kit. */
export const testingTexts = {
  notInMemory: (what: string): string =>
    `AmqpConnection.${what} is not available in memory; use SettleTest.create(metadata, { broker: 'rabbitmq', url }) for a real server`,
  noStreamsInMemory: (queue: string): string =>
    `queue '${queue}' is a stream: the server in memory has no streams; use broker: 'rabbitmq'`,
  noPluginsInMemory: (type: string): string =>
    `unknown exchange type '${type}'; the server in memory has no plugins: use broker: 'rabbitmq'`,
  exchangeTypeNotInMemory: (type: string): string =>
    `exchange type '${type}' is not available in memory; use broker: 'rabbitmq'`,
  onlyInMemory: 'Only available on the server in memory',
  testUrlMissing:
    "SettleTest: url: expected the URL of a server with broker: 'rabbitmq'; found none",
  noTestConnection: 'SettleTest: no connection to the server at the URL of the test',
  neverIdle: (inFlight: number): string =>
    `Not idle after 4s: ${counted(inFlight, 'message')} in flight. If a handler waits for time to pass, advance() moves it`,
  closedBeforeSettled: (handler: string): string =>
    `${handler}: the application closed before the message was settled`,
  noKillSwitch: (handler: string): string => `${handler} has no killSwitch`,
  noQueueToDeliverTo: (handler: string): string =>
    `${handler}: its queue is server-named; publish to an exchange instead`,
};
