#!/usr/bin/env node
import { processHost } from './host';
import { runCli } from './program';

void runCli(process.argv.slice(2), processHost()).then((code) => {
  process.exitCode = code;
  // An application that was created to be described may hold connections and timers: the process ends once
  // everything is written.
  process.stdout.write('', () => process.stderr.write('', () => process.exit()));
});
