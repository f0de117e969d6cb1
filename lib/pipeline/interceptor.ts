import { texts } from '../log/texts';
import type { Delivery } from '../model/delivery';
import { Panic } from '../model/errors';
import type { DeliveryInterceptor } from '../model/interceptor';
import type { Outcome } from '../model/outcome';

/**
 * The end of a chain, or a whole chain. It returns an outcome at once if nothing on the way takes time, else a
 * promise.
 */
export type Handling<D = Delivery> = (delivery: D) => Outcome | Promise<Outcome>;

/** A chain that resolves, whatever its links do. */
export type Chain<D = Delivery> = (delivery: D) => Promise<Outcome>;

/**
 * Composes a chain, once per subscription at startup; the first interceptor is the outermost. A link that
 * throws instead of rejecting, or calls `next` a second time, rejects.
 */
export function compose<D>(
  interceptors: readonly DeliveryInterceptor<D>[],
  last: Handling<D>,
): Chain<D> {
  return interceptors.reduceRight<Chain<D>>(
    (inner, interceptor) => link(interceptor, inner),
    async (delivery) => last(delivery),
  );
}

function link<D>(interceptor: DeliveryInterceptor<D>, inner: Chain<D>): Chain<D> {
  return (delivery) => {
    let called = false;
    const next = (): Promise<Outcome> => {
      if (called) return Promise.reject(new Panic(texts.nextCalledTwice(interceptor.name)));
      called = true;
      return inner(delivery);
    };
    try {
      return interceptor(delivery, next);
    } catch (error) {
      return Promise.reject(error);
    }
  };
}
