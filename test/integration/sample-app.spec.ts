import { describe, expect, it } from 'vitest';
import { url } from '../support/broker';
import { useCompiledFixtures } from '../support/process/compiled';
import { sampleLines, startSample } from '../support/process/sample';

describe('the sample on a server', () => {
  // Apart from the output of `npm run sample`: tests on several releases run side by side.
  const compiled = useCompiledFixtures();
  const start = () => startSample([process.execPath, compiled.pathOfSample()], url);

  it('shows every outcome and ends by itself', async () => {
    const sample = start();
    const code = await sample.ended;
    const output = sample.output();
    expect(output).toMatch(/^On the RabbitMQ server that RABBITMQ_URL names\.\n/);
    for (const line of sampleLines) expect(output).toMatch(line);
    expect(code).toBe(0);
  }, 60_000);

  it('stops at a signal: begun messages finish, and it ends at once', async () => {
    const sample = start();
    await sample.says('The same error until the attempts are used up');
    sample.child.kill('SIGINT');
    expect(await sample.ended).toBe('SIGINT');
    expect(sample.output()).toContain('Stopping: begun messages are finished');
    expect(sample.output()).not.toContain('The dead-letter queues');
  });
});
