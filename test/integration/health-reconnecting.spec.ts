import { TerminusModule } from '@nestjs/terminus';
import { expect, it } from 'vitest';
import { SettleHealthIndicator } from '../../lib/terminus';
import { startApp } from '../support/app';
import { unique } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';

it('is ready while it reconnects, for as long as grace allows', async () => {
  const proxy = await openProxy();
  const Handler = handlerOf({ queue: unique('reconnecting') }, () => undefined);
  const { app, registry } = await startApp({
    imports: [TerminusModule.forRoot({ logger: false })],
    providers: [Handler, SettleHealthIndicator],
    rabbit: { uri: proxy.url },
  });
  const indicator = app.get(SettleHealthIndicator);
  const ready = (grace: number) => indicator.ready('subscriptions', { grace }).subscriptions;
  expect(ready(0)).toMatchObject({ status: 'up' });
  proxy.refuse(true);
  proxy.cutAll();
  await until(() => registry.get(Handler, 'handle').state === 'reconnecting');
  expect(ready(60_000)).toMatchObject({ status: 'up', subscriptions: [{ state: 'reconnecting' }] });
  expect(ready(0)).toMatchObject({ status: 'down' });
  expect(indicator.alive('process').process).toMatchObject({ status: 'up' });
});
