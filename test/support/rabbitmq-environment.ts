import { Test } from '@nestjs/testing';
import { createApp, startApp } from './app';
import { openBroker, url } from './broker';
import type { Environment } from './environment';
import { serverVersion } from './versions';

/** The RabbitMQ server of this test run. */
export const environment: Environment = {
  version: serverVersion,
  url,
  startApp,
  createApp,
  testingModule: (metadata) => Test.createTestingModule(metadata),
  openBroker,
};
