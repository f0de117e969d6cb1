import { describe, expect, it } from 'vitest';
import { compileAndRun, runCompiled, sampleLines, startSample } from '../support/process/sample';

describe('the sample without a server', () => {
  it('says so in its first line, shows every outcome and ends by itself', async () => {
    const sample = startSample(compileAndRun);
    const code = await sample.ended;
    const output = sample.output();
    expect(output).toMatch(/^On the in-memory broker, since RABBITMQ_URL is not set\.\n/);
    for (const line of sampleLines) expect(output).toMatch(line);
    expect(code).toBe(0);
  }, 240_000);

  it('stops at a signal: begun messages finish, and it ends at once', async () => {
    // What the test above has compiled.
    const sample = startSample(runCompiled);
    await sample.says('The same error until the attempts are used up');
    sample.child.kill('SIGINT');
    expect(await sample.ended).toBe('SIGINT');
    expect(sample.output()).toContain('Stopping: begun messages are finished');
    expect(sample.output()).not.toContain('The dead-letter queues');
  });
});
