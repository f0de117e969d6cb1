import { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { describe, expect, it } from 'vitest';
import { isAmqpConnection } from '../../../lib/rabbitmq/golevelup';

function connection(): AmqpConnection {
  return new AmqpConnection({ uri: 'amqp://localhost', name: 'default' });
}

describe('isAmqpConnection', () => {
  it('recognises a connection', () => {
    expect(isAmqpConnection(connection())).toBe(true);
  });

  it('recognises a connection of another copy of the package by the name of its class', () => {
    const Other = { AmqpConnection: class AmqpConnection {} }.AmqpConnection;
    expect(isAmqpConnection(Object.assign(new Other(), { configuration: {} }))).toBe(true);
    expect(isAmqpConnection(new Other())).toBe(false);
  });

  it('recognises a connection whose class a bundler has renamed', () => {
    const { name } = AmqpConnection;
    Object.defineProperty(AmqpConnection, 'name', { value: '_AmqpConnection', configurable: true });
    try {
      expect(isAmqpConnection(connection())).toBe(true);
    } finally {
      Object.defineProperty(AmqpConnection, 'name', { value: name, configurable: true });
    }
  });

  it.each([undefined, null, 'AmqpConnection', {}, Object.create(null)])('rejects %s', (value) => {
    expect(isAmqpConnection(value)).toBe(false);
  });
});
