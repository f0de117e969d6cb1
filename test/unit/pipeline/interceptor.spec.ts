import { describe, expect, it, vi } from 'vitest';
import type { DeliveryInterceptor } from '../../../lib/model/interceptor';
import { ack, drop, type Outcome, retry } from '../../../lib/model/outcome';
import { compose } from '../../../lib/pipeline/interceptor';

type Link = DeliveryInterceptor<string>;

function recording(name: string, steps: string[]): Link {
  return async (_delivery, next) => {
    steps.push(`${name} in`);
    const outcome = await next();
    steps.push(`${name} out`);
    return outcome;
  };
}

describe('compose', () => {
  it('runs the first interceptor outermost and the last one innermost', async () => {
    const steps: string[] = [];
    const chain = compose(
      ['a', 'b', 'c'].map((name) => recording(name, steps)),
      async () => {
        steps.push('end');
        return ack();
      },
    );
    await chain('delivery');
    expect(steps).toEqual(['a in', 'b in', 'c in', 'end', 'c out', 'b out', 'a out']);
  });

  it('calls the handler directly without interceptors', async () => {
    const end = async (): Promise<Outcome> => drop('the handler');
    expect(await compose([], end)('delivery')).toMatchObject({ reason: 'the handler' });
  });

  it('passes the delivery inwards and the outcome outwards', async () => {
    const seen: string[] = [];
    const see: Link = (delivery, next) => {
      seen.push(delivery);
      return next();
    };
    const replace: Link = async (_delivery, next) =>
      (await next()).kind === 'ack' ? retry() : ack();
    const chain = compose([replace, see], async (delivery) => {
      seen.push(delivery);
      return ack();
    });
    expect((await chain('delivery')).kind).toBe('retry');
    expect(seen).toEqual(['delivery', 'delivery']);
  });

  it('does not call the rest unless next is called', async () => {
    const end = vi.fn();
    const chain = compose<string>([async () => drop('closed')], end);
    expect(await chain('delivery')).toMatchObject({ reason: 'closed' });
    expect(end).not.toHaveBeenCalled();
  });

  it('handles deliveries independently', async () => {
    const end = vi.fn(async () => ack());
    const chain = compose<string>([(_delivery, next) => next()], end);
    await Promise.all([chain('one'), chain('two')]);
    await chain('one');
    expect(end.mock.calls).toEqual([['one'], ['two'], ['one']]);
  });
});

describe('an interceptor', () => {
  it('that calls next twice is rejected by name, and the rest runs once', async () => {
    const end = vi.fn(async () => ack());
    const twice: Link = async (_delivery, next) => {
      await next();
      return next();
    };
    await expect(compose([twice], end)('delivery')).rejects.toThrow('"twice" called next() twice');
    expect(end).toHaveBeenCalledOnce();
  });

  it('can call next for each delivery', async () => {
    const end = vi.fn(async () => ack());
    const chain = compose<string>([(_delivery, next) => next()], end);
    await chain('one');
    await expect(chain('two')).resolves.toEqual(ack());
  });

  it('cannot call next again while the first call runs', async () => {
    const end = vi.fn(async () => ack());
    const chain = compose<string>(
      [async (_delivery, next) => (await Promise.all([next(), next()]))[0]],
      end,
    );
    await expect(chain('delivery')).rejects.toThrow('twice');
    expect(end).toHaveBeenCalledOnce();
  });

  it('that throws synchronously rejects', async () => {
    const error = new Error('synchronous');
    const throwing: Link = () => {
      throw error;
    };
    const outer = vi.fn<Link>((_delivery, next) => next());
    await expect(compose([outer, throwing], async () => ack())('delivery')).rejects.toBe(error);
    expect(outer).toHaveBeenCalledOnce();
  });

  it('can turn an inner rejection into an outcome', async () => {
    const saving: Link = (_delivery, next) => next().catch(() => drop('saved'));
    const failing: Link = () => {
      throw new Error('synchronous');
    };
    expect(await compose([saving, failing], async () => ack())('d')).toMatchObject({
      reason: 'saved',
    });
  });
});
