import type { CliHost } from '../../lib/cli/host';

/** A host of the command for tests. */
export interface TestHost extends CliHost {
  /** What was written, colours and all. */
  readonly written: { out: string; err: string };
  /** Interrupts the command. */
  interrupt(): void;
}

/** What a test sets; the rest is a pipe without an environment. */
export interface TestHostOptions extends Partial<Pick<CliHost, 'env' | 'columns'>> {
  readonly isTerminal?: boolean;
  readonly answer?: string;
}

export function testHost({ isTerminal = false, answer, ...own }: TestHostOptions = {}): TestHost {
  const written = { out: '', err: '' };
  let interrupted = (): void => {};
  return {
    written,
    env: {},
    columns: Number.POSITIVE_INFINITY,
    outIsTerminal: isTerminal,
    errIsTerminal: isTerminal,
    out: (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
    ask: async () => (isTerminal ? answer : undefined),
    onInterrupt: (work) => {
      interrupted = work;
      return () => {
        interrupted = () => {};
      };
    },
    interrupt: () => interrupted(),
    ...own,
  };
}
