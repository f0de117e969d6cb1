import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { url } from '../support/broker';

/** Runs the sample on the server of this run. */
function startSample(command: string, parameters: readonly string[]) {
  const child = spawn(command, parameters, {
    env: { ...process.env, RABBITMQ_URL: url, FORCE_COLOR: '0' },
  });
  let output = '';
  const heard = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const look of heard) look();
    });
  }
  const ended = new Promise<number | string | null>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal)),
  );
  return {
    child,
    ended,
    output: () => output,
    /** Resolves once the output holds a text; rejects where the sample ends before. */
    says: (text: string) =>
      new Promise<void>((resolve, reject) => {
        const look = () => output.includes(text) && resolve();
        heard.add(look);
        look();
        void ended.then(() => reject(new Error(`the sample has not said "${text}":\n${output}`)));
      }),
  };
}

describe('the sample', () => {
  it('shows every outcome and ends by itself', async () => {
    const sample = startSample('nest', ['start', 'sample-app', '--no-shell']);
    const code = await sample.ended;
    const output = sample.output();
    for (const line of [
      /Billing\.charge +quorum +\w+ +1 of 3 +ack +acknowledged/,
      /mail to ada@example\.org: receipt of order 1/,
      /Billing\.charge +quorum +\w+ +1 of 3 +retryAfter 500ms +again after 500 ms/,
      /Billing\.charge +quorum +\w+ +3 of 3 +threw BankTimeout +to billing\.dead: attempts/,
      /Billing\.charge +quorum +\w+ +1 of 3 +threw CardDeclined +to billing\.dead: error/,
      /Billing\.charge +quorum +\w+ +1 of 3 +threw SyntaxError +to billing\.dead: undecodable/,
      /Stock\.reserve +classic +\w+ +1 of 3 +retry +again at once/,
      /Stock\.reserve +classic +\w+ +2 of 3 +ack +acknowledged/,
      /Stock\.reserve +classic +\w+ +1 of 3 +drop +to stock\.dead: drop/,
      /Mail\.shipped +classic +\w+ +1 +threw TypeError +to mail\.dead: panic/,
      /billing\.dead +\w+ +attempts +3 attempts +BankTimeout: no answer from the bank/,
      /stock\.dead +\w+ +drop +1 attempt +no article "unicorn"/,
    ]) {
      expect(output).toMatch(line);
    }
    expect(code).toBe(0);
  }, 240_000);

  it('stops at a signal: begun messages finish, and it ends at once', async () => {
    // What the test above has compiled.
    const sample = startSample('node', ['.cache/sample-app/sample-app/main.js']);
    await sample.says('The same error until the attempts are used up');
    sample.child.kill('SIGINT');
    expect(await sample.ended).toBe('SIGINT');
    expect(sample.output()).toContain('Stopping: begun messages are finished');
    expect(sample.output()).not.toContain('The dead-letter queues');
  });
});
