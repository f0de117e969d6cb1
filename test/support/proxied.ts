import { onTestFinished } from 'vitest';
import { url } from './broker';
import { AmqpProxy } from './proxy';

/** A proxy in front of a server for one test; stopped after it, when its applications are closed. */
export async function openProxy(target = url): Promise<AmqpProxy> {
  const proxy = await AmqpProxy.start(target);
  onTestFinished(async () => {
    proxy.reset();
    await proxy.stop();
  });
  return proxy;
}
