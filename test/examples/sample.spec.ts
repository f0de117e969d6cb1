import { describe, expect, it } from 'vitest';
import { compileAndRun, runCompiled, sampleLines, startSample } from '../support/process/sample';
import { onFreePort, useServedSample } from '../support/process/served-sample';

describe('the sample without a server', () => {
  it('says so in its first line, shows every outcome and exits by itself', async () => {
    const sample = startSample(compileAndRun);
    const code = await sample.ended;
    const output = sample.output();
    expect(output).toMatch(/^On the in-memory broker, since RABBITMQ_URL is not set\.\n/);
    for (const line of sampleLines) expect(output).toMatch(line);
    expect(code).toBe(0);
  }, 240_000);

  it('shuts down on a signal: running handlers finish, and it exits at once', async () => {
    // Compiled by the test above.
    const sample = startSample(runCompiled);
    await sample.prints('The same error until all attempts are used');
    sample.child.kill('SIGINT');
    expect(await sample.ended).toBe('SIGINT');
    expect(sample.output()).toContain('Shutting down: running handlers finish');
    expect(sample.output()).not.toContain('The dead-letter queues');
  });

  it('serves its console until SIGTERM, and exits with 0', async () => {
    await useServedSample(startSample([...runCompiled, '--serve'], undefined, onFreePort));
  }, 60_000);
});
