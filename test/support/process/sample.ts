import { spawn } from 'node:child_process';

/** Lines that the sample prints about its messages, on any broker. */
export const sampleLines: readonly RegExp[] = [
  /Billing\.charge +quorum +\w+ +1 of 3 +ack +acknowledged/,
  /mail to ada@example\.org: receipt of order 1/,
  /Billing\.charge +quorum +\w+ +1 of 3 +retryAfter 500ms +retried in 500 ms/,
  /Billing\.charge +quorum +\w+ +3 of 3 +threw BankTimeout +moved to billing\.dead: attempts/,
  /Billing\.charge +quorum +\w+ +1 of 3 +threw CardDeclined +moved to billing\.dead: error/,
  /Billing\.charge +quorum +\w+ +1 of 3 +threw SyntaxError +moved to billing\.dead: invalid-payload/,
  /Stock\.reserve +classic +\w+ +1 of 3 +retry +retried at once/,
  /Stock\.reserve +classic +\w+ +2 of 3 +ack +acknowledged/,
  /Stock\.reserve +classic +\w+ +1 of 3 +drop +moved to stock\.dead: drop/,
  /Mail\.shipped +classic +\w+ +1 +threw TypeError +moved to mail\.dead: panic/,
  /billing\.dead +\w+ +attempts +3 attempts +BankTimeout: no answer from the bank/,
  /billing\.dead +\w+ +error +1 attempt +CardDeclined: the card is declined/,
  /billing\.dead +\w+ +invalid-payload +1 attempt +SyntaxError/,
  /mail\.dead +\w+ +panic +1 attempt +TypeError/,
  /stock\.dead +\w+ +drop +1 attempt +no article "unicorn"/,
];

/** Compiles the sample and runs it, as `npm run sample` does. */
export const compileAndRun = ['nest', 'start', 'sample-app', '--no-shell'] as const;

/** Runs the output of `compileAndRun`. */
export const runCompiled = ['node', '.cache/sample-app/sample-app/main.js'] as const;

/** Starts the sample on a server, or without a `url` on the in-memory broker. */
export function startSample(
  [command, ...parameters]: readonly [string, ...string[]],
  url?: string,
  variables: Readonly<Record<string, string>> = {},
) {
  const { RABBITMQ_URL: _, ...environment } = process.env;
  const child = spawn(command, parameters, {
    env: {
      ...environment,
      ...variables,
      FORCE_COLOR: '0',
      ...(url !== undefined && { RABBITMQ_URL: url }),
    },
  });
  let output = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const look of listeners) look();
    });
  }
  const ended = new Promise<number | string | null>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal)),
  );
  return {
    child,
    ended,
    output: () => output,
    /** Resolves once the output contains a text; rejects if the sample ends before. */
    prints: (text: string) =>
      new Promise<void>((resolve, reject) => {
        const look = () => output.includes(text) && resolve();
        listeners.add(look);
        look();
        void ended.then(() => reject(new Error(`the sample did not print "${text}":\n${output}`)));
      }),
  };
}
