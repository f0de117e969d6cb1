import { describe, expect, it } from 'vitest';
import { runCli } from '../../../lib/cli/program';
import { testHost } from '../../support/cli-host';

async function run(...parameters: string[]) {
  const host = testHost();
  const code = await runCli(parameters, host);
  return { code, ...host.written };
}

describe('the command line', () => {
  it.each([
    [['--help'], 'Usage: nestjs-settle [options] [command]'],
    [['dead', '--help'], 'replay [options] <queue> [ids...]'],
    [['dead', 'replay', '--help'], '--dry-run'],
    [['queues', '--help'], '--management-url'],
  ])('shows help for %o on standard output, without colours', async (parameters, text) => {
    const { code, out, err } = await run(...parameters);
    expect(code).toBe(0);
    expect(out).toContain(text);
    expect(out).not.toContain('\u001b');
    expect(err).toBe('');
  });

  it.each([
    [[]],
    [['bogus']],
    [['dead', 'bogus']],
    [['dead', 'list']],
    [['dead', 'list', 'q', '--limit', 'many']],
    [['dead', 'replay', 'q', '--rate', '-1']],
    [['queues']],
  ])('exits with 2 for %o, and writes to standard error only', async (parameters) => {
    const { code, out, err } = await run(...parameters);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).not.toBe('');
  });

  it('exits with 1 if the broker cannot be reached, in one line', async () => {
    const { code, out, err } = await run('dead', 'list', 'q', '--url', 'amqp://127.0.0.1:1');
    expect(code).toBe(1);
    expect(out).toBe('');
    expect(err).toBe('nestjs-settle: connect ECONNREFUSED 127.0.0.1:1\n');
  });
});
