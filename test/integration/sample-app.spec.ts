import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { INSTRUMENTS } from '../../lib/opentelemetry/instruments';
import { url } from '../support/broker';
import { useCompiledFixtures } from '../support/process/compiled';
import { sampleLines, startSample } from '../support/process/sample';
import { onFreePort, useServedSample } from '../support/process/served-sample';

// Not there: a counter that has counted nothing yet, what only subscriptions with `order` have, and the time in
// the queue, which RabbitMQ states only with its interceptor of timestamps.
const missing = new Set([
  'settle_subscription_reconnects',
  'settle_deliveries_busiest_key',
  'settle_queue_time',
]);
const prometheusNames = Object.values(INSTRUMENTS)
  .map(({ name }) => name.replaceAll('.', '_'))
  .filter((name) => !missing.has(name));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('the sample on a server', () => {
  // Separate from the output of `npm run sample`: tests on several releases run in parallel.
  const compiled = useCompiledFixtures();
  const start = () => startSample([process.execPath, compiled.pathOfSample()], url);

  it('shows every outcome and exits by itself', async () => {
    const sample = start();
    const code = await sample.ended;
    const output = sample.output();
    expect(output).toMatch(/^On the RabbitMQ server of RABBITMQ_URL\.\n/);
    for (const line of sampleLines) expect(output).toMatch(line);
    expect(code).toBe(0);
  }, 60_000);

  it('serves its metrics to Prometheus', async () => {
    const port = `${await freePort()}`;
    const command = [process.execPath, compiled.pathOfSample()] as const;
    const sample = startSample(command, url, { METRICS_PORT: port });
    await sample.prints('The same error until all attempts are used');
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    const metrics = await response.text();
    sample.child.kill('SIGINT');
    await sample.ended;
    const billing =
      'messaging_system="rabbitmq",messaging_destination_name="billing",settle_handler="Billing.charge"';
    expect(metrics).toContain('# TYPE settle_settlements_total counter');
    expect(metrics).toMatch(
      new RegExp(
        `settle_settlements_total\\{${billing},settle_outcome="ack",settle_decision="ack",settle_status="sent"[^}]*\\} \\d`,
      ),
    );
    expect(metrics).toContain('# TYPE messaging_process_duration histogram');
    expect(metrics).toMatch(
      new RegExp(`settle_subscription_state\\{${billing},settle_state="consuming"[^}]*\\} 1`),
    );
    for (const metric of prometheusNames) expect(metrics).toContain(metric);
  }, 60_000);

  it('serves its console until SIGTERM, and exits with 0', async () => {
    const command = [process.execPath, compiled.pathOfSample(), '--serve'] as const;
    await useServedSample(startSample(command, url, onFreePort));
  }, 60_000);

  it('shuts down on a signal: running handlers finish, and it exits at once', async () => {
    const sample = start();
    await sample.prints('The same error until all attempts are used');
    sample.child.kill('SIGINT');
    expect(await sample.ended).toBe('SIGINT');
    expect(sample.output()).toContain('Shutting down: running handlers finish');
    expect(sample.output()).not.toContain('The dead-letter queues');
  });
});
