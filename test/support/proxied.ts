import { onTestFinished } from 'vitest';
import { url } from './broker';
import { AmqpProxy } from './proxy';

/** A proxy in front of the server for one test; stopped after it, when its applications are closed. */
export async function openProxy(): Promise<AmqpProxy> {
  const proxy = await AmqpProxy.start(url);
  onTestFinished(async () => {
    proxy.reset();
    await proxy.stop();
  });
  return proxy;
}
