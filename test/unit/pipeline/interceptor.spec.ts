import { describe, expect, it, vi } from 'vitest';
import type { DeliveryInterceptor } from '../../../lib/model/interceptor';
import { ack, drop, type Outcome, retry } from '../../../lib/model/outcome';
import { compose } from '../../../lib/pipeline/interceptor';

type Link = DeliveryInterceptor<string>;

function noting(name: string, notes: string[]): Link {
  return async (_delivery, next) => {
    notes.push(`${name} in`);
    const outcome = await next();
    notes.push(`${name} out`);
    return outcome;
  };
}

describe('compose', () => {
  it('runs the first interceptor outermost and the last one next to the end', async () => {
    const notes: string[] = [];
    const chain = compose(
      ['a', 'b', 'c'].map((name) => noting(name, notes)),
      async () => {
        notes.push('end');
        return ack();
      },
    );
    await chain('delivery');
    expect(notes).toEqual(['a in', 'b in', 'c in', 'end', 'c out', 'b out', 'a out']);
  });

  it('is the end itself without interceptors', async () => {
    const end = async (): Promise<Outcome> => drop('the end');
    expect(await compose([], end)('delivery')).toMatchObject({ reason: 'the end' });
  });

  it('hands the delivery to each, and the outcome back through each', async () => {
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

  it('runs nothing further in where next is not called', async () => {
    const end = vi.fn();
    const chain = compose<string>([async () => drop('closed')], end);
    expect(await chain('delivery')).toMatchObject({ reason: 'closed' });
    expect(end).not.toHaveBeenCalled();
  });

  it('is composed once and runs each delivery for itself', async () => {
    const end = vi.fn(async () => ack());
    const chain = compose<string>([(_delivery, next) => next()], end);
    await Promise.all([chain('one'), chain('two')]);
    await chain('one');
    expect(end.mock.calls).toEqual([['one'], ['two'], ['one']]);
  });
});

describe('an interceptor', () => {
  it('that calls next a second time gets a rejection that names it, and the rest runs once', async () => {
    const end = vi.fn(async () => ack());
    const twice: Link = async (_delivery, next) => {
      await next();
      return next();
    };
    await expect(compose([twice], end)('delivery')).rejects.toThrow('"twice" called next() twice');
    expect(end).toHaveBeenCalledOnce();
  });

  it('may call next again for the next delivery', async () => {
    const end = vi.fn(async () => ack());
    const chain = compose<string>([(_delivery, next) => next()], end);
    await chain('one');
    await expect(chain('two')).resolves.toEqual(ack());
  });

  it('is refused a second next also while the first one runs', async () => {
    const end = vi.fn(async () => ack());
    const chain = compose<string>(
      [async (_delivery, next) => (await Promise.all([next(), next()]))[0]],
      end,
    );
    await expect(chain('delivery')).rejects.toThrow('twice');
    expect(end).toHaveBeenCalledOnce();
  });

  it('that throws instead of rejecting, rejects', async () => {
    const error = new Error('at once');
    const throwing: Link = () => {
      throw error;
    };
    const outer = vi.fn<Link>((_delivery, next) => next());
    await expect(compose([outer, throwing], async () => ack())('delivery')).rejects.toBe(error);
    expect(outer).toHaveBeenCalledOnce();
  });

  it('can turn a rejection from further in into an outcome', async () => {
    const saving: Link = (_delivery, next) => next().catch(() => drop('saved'));
    const failing: Link = () => {
      throw new Error('at once');
    };
    expect(await compose([saving, failing], async () => ack())('d')).toMatchObject({
      reason: 'saved',
    });
  });
});
