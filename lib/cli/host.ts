import { createInterface } from 'node:readline/promises';

/** The terminal, or the pipes, that the command runs in. */
export interface CliHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes a result, without a newline of its own. */
  out(text: string): void;
  /** Writes what is not a result: progress, errors, questions. */
  err(text: string): void;
  /** Whether results are shown in a terminal. */
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** The width of the terminal; no limit in a pipe. */
  readonly columns: number;
  /** Asks a question in the terminal; `undefined` if nobody can answer. */
  ask(question: string): Promise<string | undefined>;
  /** Calls `interrupted` on the first SIGINT or SIGTERM; returns a function that ends it. */
  onInterrupt(interrupted: () => void): () => void;
}

/** The host of the process that runs the command. */
export function processHost(): CliHost {
  const { stdout, stderr, stdin } = process;
  // A reader such as head that ends early is no error.
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  return {
    env: process.env,
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    outIsTerminal: stdout.isTTY === true,
    errIsTerminal: stderr.isTTY === true,
    columns: stdout.isTTY === true ? stdout.columns || 80 : Number.POSITIVE_INFINITY,
    ask: async (question) => {
      if (stdin.isTTY !== true || stderr.isTTY !== true) return undefined;
      const lines = createInterface({ input: stdin, output: stderr });
      try {
        return await lines.question(question);
      } finally {
        lines.close();
      }
    },
    onInterrupt: (interrupted) => {
      const signals = ['SIGINT', 'SIGTERM'] as const;
      for (const signal of signals) process.once(signal, interrupted);
      return () => {
        for (const signal of signals) process.removeListener(signal, interrupted);
      };
    },
  };
}
