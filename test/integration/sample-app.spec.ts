import { describe, expect, it } from 'vitest';
import { url } from '../support/broker';
import { useCompiledFixtures } from '../support/process/compiled';
import { sampleLines, startSample } from '../support/process/sample';

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

  it('shuts down on a signal: running handlers finish, and it exits at once', async () => {
    const sample = start();
    await sample.prints('The same error until all attempts are used');
    sample.child.kill('SIGINT');
    expect(await sample.ended).toBe('SIGINT');
    expect(sample.output()).toContain('Shutting down: running handlers finish');
    expect(sample.output()).not.toContain('The dead-letter queues');
  });
});
