import type { RabbitMQConfig } from '@golevelup/nestjs-rabbitmq';
import type { INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { url, withoutNagle } from './broker';
import { type AppParts, startAppOn, type TestApp } from './start-app';

export { LogRecorder } from './log-recorder';
export type { AppParts, TestApp } from './start-app';

const rabbit: RabbitMQConfig = {
  uri: url,
  connectionManagerOptions: {
    reconnectTimeInSeconds: 0.3,
    heartbeatIntervalInSeconds: 5,
    connectionOptions: withoutNagle,
  },
};

/** Creates an application; the caller initialises and closes it. */
export function createApp(module: Type): Promise<INestApplication> {
  return NestFactory.create(module, { logger: false, abortOnError: false });
}

/** Starts an application on the server of this test run; it is closed after the test. */
export function startApp(parts: AppParts): Promise<TestApp> {
  return startAppOn({ rabbit, create: createApp }, parts);
}
