import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ApplicationExit } from '../../../lib/lifecycle/exit';
import type { RunningApplication } from '../../../lib/nest/running-application';
import { Gate } from '../../support/eventually';
import { FakeClock } from '../../support/fake-clock';
import { RecordingLogger } from '../fixtures';

let clock: FakeClock;
let exits: unknown[];
let before: typeof process.exitCode;

beforeEach(() => {
  clock = new FakeClock();
  exits = [];
  before = process.exitCode;
  vi.spyOn(process, 'exit').mockImplementation((code) => exits.push(code) as never);
  vi.spyOn(process, 'once').mockReturnThis();
});

afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = before;
});

function exitOf(application: { isClosing: boolean; close: () => Promise<void> }) {
  return new ApplicationExit(clock, new RecordingLogger(), application as RunningApplication);
}

it('exits once the application has closed', async () => {
  const closed = new Gate();
  const exiting = exitOf({ isClosing: false, close: () => closed.promise }).run();
  await clock.pass(20_000);
  expect(exits).toEqual([]);
  closed.open();
  await exiting;
  expect(exits).toEqual([1]);
  expect(clock.pending).toEqual([]);
});

it('exits after 30 s if the application does not close', async () => {
  void exitOf({ isClosing: false, close: () => new Promise(() => undefined) }).run();
  await clock.pass(29_999);
  expect(exits).toEqual([]);
  await clock.pass(1);
  expect(exits).toEqual([1]);
});

it('lets a close that is already running finish for 30 s', async () => {
  const close = vi.fn();
  await exitOf({ isClosing: true, close }).run();
  expect(close).not.toHaveBeenCalled();
  expect(process.exitCode).toBe(1);
  expect(clock.keepingAlive).toBe(0);
  await clock.pass(29_999);
  expect(exits).toEqual([]);
  await clock.pass(1);
  expect(exits).toEqual([1]);
});
