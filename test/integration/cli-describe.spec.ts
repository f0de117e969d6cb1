import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { startApp } from '../support/app';
import { Broker, unique, url } from '../support/broker';
import { handlerOf } from '../support/handlers';
import { useCompiledFixtures } from '../support/process/compiled';

const compiled = useCompiledFixtures();
const NOWHERE = 'amqp://127.0.0.1:1';

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the command on the module of the fixture. */
function run(
  app: { readonly uri: string; readonly name: string; readonly queueType?: string },
  [command = '', ...options]: readonly string[],
): Promise<Ended> {
  const path = compiled.pathOf('described-app');
  const parameters = [compiled.pathOfCommand(), command, `${path}#DescribedModule`, ...options];
  const child = spawn(process.execPath, parameters, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, DESCRIBED_APP: JSON.stringify({ queueType: 'classic', ...app }) },
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
}

describe('nestjs-settle', () => {
  it('describe shows what outcomes mean, without a server and without starting the application', async () => {
    const { code, out, err } = await run({ uri: NOWHERE, name: 'billing' }, ['describe']);
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(out).toContain('queue "billing" (classic), connection "default", prefetch 10');
    expect(out).toContain('waiting queue "billing.wait.10000" (declared: startup)');
    expect(out).toMatch(/^ +error +drop +moved to "billing\.dead", reason "error"$/m);
    const json = await run({ uri: NOWHERE, name: 'billing' }, ['describe', '--json']);
    expect(JSON.parse(json.out).consumers[0].subscriptions[0].handler).toBe('Billing.charge');
  });

  it('topology writes definitions for a version and a virtual host', async () => {
    const app = { uri: `${NOWHERE}/shop`, name: 'billing', queueType: 'quorum' };
    const { out, code } = await run(app, ['topology', '--rabbitmq', '3.13']);
    expect(code).toBe(0);
    const { queues, exchanges, bindings } = JSON.parse(out);
    expect(queues[0]).toMatchObject({ name: 'billing', vhost: 'shop' });
    expect(queues[0].arguments).toEqual({ 'x-queue-type': 'quorum' });
    expect(exchanges[0]).toMatchObject({ name: 'billing.exchange', type: 'topic' });
    expect(bindings[0]).toMatchObject({ source: 'billing.exchange', routing_key: 'order.#' });
    const other = await run(app, ['topology', '--vhost', '/']);
    expect(JSON.parse(other.out).queues[0]).toMatchObject({
      vhost: '/',
      arguments: { 'x-delivery-limit': -1 },
    });
  });

  it('asyncapi writes a document with the schema of the payload', async () => {
    const options = ['asyncapi', '--title', 'Billing', '--document-version', '2.0.0'];
    const { out, code } = await run({ uri: NOWHERE, name: 'billing' }, options);
    expect(code).toBe(0);
    const { asyncapi, info, channels, operations } = JSON.parse(out);
    expect([asyncapi, info]).toEqual(['3.0.0', { title: 'Billing', version: '2.0.0' }]);
    expect(channels.billing.messages['Billing.charge'].payload.required).toEqual(['id']);
    expect(operations['Billing.charge'].action).toBe('receive');
  });

  it('check reports what is missing or different, and declares nothing', async () => {
    const name = unique('checked');
    const app = { uri: url, name };
    const missing = await run(app, ['check']);
    expect(missing.code).toBe(1);
    expect(missing.out).toContain(
      `missing: queue "${name}" does not exist; the application declares it`,
    );
    expect(missing.err).toContain('Not visible over AMQP: bindings');
    expect((await run(app, ['check', '--allow-missing'])).code).toBe(0);
    const broker = await Broker.connect();
    expect(await broker.ready(name)).toBeUndefined();

    const exchange = `${name}.exchange`;
    const Handler = handlerOf(
      { queue: name, exchange, routingKey: 'order.#', deadLetter: `${name}.dead` },
      () => undefined,
    );
    const running = await startApp({
      providers: [Handler],
      rabbit: { exchanges: [{ name: exchange, type: 'topic' }] },
    });
    const waiting = await run(app, ['check']);
    expect(waiting.out).toBe(
      `missing: queue "${name}.wait.10000" does not exist; the application declares it\n`,
    );
    const same = await run(app, ['check', '--allow-missing']);
    expect([same.code, same.out.endsWith('no difference\n')]).toEqual([0, true]);
    await running.close();

    const different = await run({ ...app, queueType: 'quorum' }, ['check', '--allow-missing']);
    expect(different.code).toBe(1);
    expect(different.out).toContain(`different: queue "${name}": `);
    expect(different.out).toContain('x-queue-type');
    await broker.channel((channel) => channel.deleteExchange(exchange));
    await broker.close();
  });

  it('check fails with the reason if the server cannot be reached', async () => {
    const { code, err } = await run({ uri: NOWHERE, name: 'billing' }, ['check']);
    expect(code).toBe(1);
    expect(err).toMatch(/^nestjs-settle: .*RabbitMQ/m);
  });
});
