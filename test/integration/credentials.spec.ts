import { describe, expect, it } from 'vitest';
import { runCli } from '../../lib/cli/program';
import { startApp } from '../support/app';
import { openBroker, unique, url } from '../support/broker';
import { testHost } from '../support/cli-host';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';

const PASSWORD = 'pa55w0rd';

/** The URL of the server with a password that it does not accept. */
function refused(): string {
  const changed = new URL(url);
  changed.password = PASSWORD;
  return changed.href;
}

describe('the password of a URL', async () => {
  await openBroker();

  it('is in no line of an application whose connection is closed and refused', async () => {
    const proxy = await openProxy();
    const uris = [proxy.url, refused()];
    const Handler = handlerOf({ queue: unique('credentials') }, () => undefined);
    const { log, app } = await startApp({
      providers: [Handler],
      rabbit: { uri: uris, connectionManagerOptions: { reconnectTimeInSeconds: 0.05 } },
    });
    proxy.cutAll();
    const isBack = (): boolean => log.matching(/\[consuming\]/).length > 0;
    await until(isBack);
    await app.close();
    expect(log.matching(/\[channel-closed\]/)).toHaveLength(1);
    const own = new URL(url).password;
    for (const { text, rest } of log.lines) {
      const line = `${text} ${rest.join(' ')}`;
      expect(line).not.toContain(PASSWORD);
      expect(line).not.toContain(`:${own}@`);
    }
  });

  const host = new URL(url).host;
  it.each([
    ['that is refused', refused()],
    ['of a port without a server', `amqp://user:${PASSWORD}@127.0.0.1:1`],
    ['of an unknown host', `amqp://user:${PASSWORD}@host.invalid`],
    ['of another protocol', `ftp://user:${PASSWORD}@${host}`],
    ['that is not valid', `amqp://user:${PASSWORD}@[host`],
    ['whose password is not encoded', `amqp://user:${PASSWORD}%zz@${host}`],
  ])('is not in what the command writes: a URL %s', async (_which, address) => {
    const environment = { RABBITMQ_URL: address, RABBITMQ_MANAGEMENT_URL: address };
    for (const parameters of [
      ['dead', 'list', 'queue', '--url', address],
      ['dead', 'list', 'queue'],
      ['queues', 'queue', '--url', address],
      ['queues', '--management-url', address],
      ['queues', '--management-url', address.replace(/^\w+:/, 'http:')],
      ['queues', '--help'],
    ]) {
      const run = testHost({ env: environment });
      await runCli(parameters, run);
      expect(run.written.out + run.written.err).not.toBe('');
      expect(run.written.out + run.written.err).not.toContain(PASSWORD);
    }
  });
});
