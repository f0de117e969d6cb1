import { map, Subject, type Subscriber } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { GuardedObservable } from '../../../lib/lifecycle/guarded-observable';

function guarded() {
  const source = new Subject<number>();
  const reported: unknown[] = [];
  const observable = new GuardedObservable<number>(
    (error) => reported.push(error),
    (subscriber: Subscriber<number>) => source.subscribe(subscriber),
  );
  return { source, reported, observable };
}

describe('GuardedObservable', () => {
  it('notifies an observer whose methods are inherited', () => {
    const { source, observable } = guarded();
    const seen: unknown[] = [];
    const subject = new Subject<number>();
    subject.subscribe({ next: (value) => seen.push(value), complete: () => seen.push('end') });
    observable.pipe(map((value) => value * 10)).subscribe(subject);
    source.next(1);
    source.next(2);
    source.complete();
    expect(seen).toEqual([10, 20, 'end']);
  });

  it('calls the methods of an observer with its this', () => {
    const { source, observable } = guarded();
    class Counter {
      count = 0;
      next(): void {
        this.count += 1;
      }
    }
    const counter = new Counter();
    observable.subscribe(counter);
    source.next(1);
    expect(counter.count).toBe(1);
  });

  it('reports what an observer or operator throws, and notifies the others', () => {
    const { source, reported, observable } = guarded();
    const seen: number[] = [];
    const fault = new Error('observer failed');
    observable.subscribe(() => {
      throw fault;
    });
    observable.pipe(map(() => JSON.parse('{'))).subscribe();
    observable.subscribe((value) => seen.push(value));
    source.next(1);
    expect(reported).toEqual([fault, expect.any(SyntaxError)]);
    expect(seen).toEqual([1]);
  });

  it("passes an error to the observer's error handler, if there is one", () => {
    const { source, reported, observable } = guarded();
    const errors: unknown[] = [];
    observable.pipe(map(() => JSON.parse('{'))).subscribe({ error: (error) => errors.push(error) });
    source.next(1);
    expect(errors).toEqual([expect.any(SyntaxError)]);
    expect(reported).toEqual([]);
  });
});
