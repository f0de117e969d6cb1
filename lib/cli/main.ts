#!/usr/bin/env node
import { processHost } from './host';
import { runCli } from './program';

void runCli(process.argv.slice(2), processHost()).then((code) => {
  process.exitCode = code;
});
