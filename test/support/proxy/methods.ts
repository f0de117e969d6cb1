/** The class and method number of every AMQP 0.9.1 method, RabbitMQ's extensions included. */
const methodNumbers = {
  'connection.start': [10, 10],
  'connection.start-ok': [10, 11],
  'connection.secure': [10, 20],
  'connection.secure-ok': [10, 21],
  'connection.tune': [10, 30],
  'connection.tune-ok': [10, 31],
  'connection.open': [10, 40],
  'connection.open-ok': [10, 41],
  'connection.close': [10, 50],
  'connection.close-ok': [10, 51],
  'connection.blocked': [10, 60],
  'connection.unblocked': [10, 61],
  'connection.update-secret': [10, 70],
  'connection.update-secret-ok': [10, 71],
  'channel.open': [20, 10],
  'channel.open-ok': [20, 11],
  'channel.flow': [20, 20],
  'channel.flow-ok': [20, 21],
  'channel.close': [20, 40],
  'channel.close-ok': [20, 41],
  'exchange.declare': [40, 10],
  'exchange.declare-ok': [40, 11],
  'exchange.delete': [40, 20],
  'exchange.delete-ok': [40, 21],
  'exchange.bind': [40, 30],
  'exchange.bind-ok': [40, 31],
  'exchange.unbind': [40, 40],
  'exchange.unbind-ok': [40, 51],
  'queue.declare': [50, 10],
  'queue.declare-ok': [50, 11],
  'queue.bind': [50, 20],
  'queue.bind-ok': [50, 21],
  'queue.purge': [50, 30],
  'queue.purge-ok': [50, 31],
  'queue.delete': [50, 40],
  'queue.delete-ok': [50, 41],
  'queue.unbind': [50, 50],
  'queue.unbind-ok': [50, 51],
  'basic.qos': [60, 10],
  'basic.qos-ok': [60, 11],
  'basic.consume': [60, 20],
  'basic.consume-ok': [60, 21],
  'basic.cancel': [60, 30],
  'basic.cancel-ok': [60, 31],
  'basic.publish': [60, 40],
  'basic.return': [60, 50],
  'basic.deliver': [60, 60],
  'basic.get': [60, 70],
  'basic.get-ok': [60, 71],
  'basic.get-empty': [60, 72],
  'basic.ack': [60, 80],
  'basic.reject': [60, 90],
  'basic.recover-async': [60, 100],
  'basic.recover': [60, 110],
  'basic.recover-ok': [60, 111],
  'basic.nack': [60, 120],
  'confirm.select': [85, 10],
  'confirm.select-ok': [85, 11],
  'tx.select': [90, 10],
  'tx.select-ok': [90, 11],
  'tx.commit': [90, 20],
  'tx.commit-ok': [90, 21],
  'tx.rollback': [90, 30],
  'tx.rollback-ok': [90, 31],
} as const satisfies Record<string, readonly [number, number]>;

/** The name of a method the way the protocol's reference writes it, such as `basic.publish`. */
export type MethodName = keyof typeof methodNumbers;

/** A method the protocol does not list: its class and method number. */
export type UnknownMethodName = `unknown.${number}.${number}`;

/** The name of anything that travels on a connection. */
export type FrameName =
  | MethodName
  | UnknownMethodName
  | 'protocol.header'
  | 'content.header'
  | 'content.body'
  | 'heartbeat';

const namesByNumber = new Map<number, MethodName>();
for (const [name, [classNumber, methodNumber]] of Object.entries(methodNumbers)) {
  namesByNumber.set(classNumber * 0x10000 + methodNumber, name as MethodName);
}

/** The class and method number of a method. */
export function numbersOf(name: MethodName): readonly [number, number] {
  return methodNumbers[name];
}

/** The name of the method with these numbers. */
export function methodNameOf(classNumber: number, methodNumber: number): FrameName {
  const name = namesByNumber.get(classNumber * 0x10000 + methodNumber);
  return name ?? `unknown.${classNumber}.${methodNumber}`;
}

/** Whether a content header and bodies follow this method. */
export function carriesContent(name: FrameName): boolean {
  return (
    name === 'basic.publish' ||
    name === 'basic.deliver' ||
    name === 'basic.return' ||
    name === 'basic.get-ok'
  );
}
