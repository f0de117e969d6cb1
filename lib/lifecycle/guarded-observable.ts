import { Observable, type Observer, type Operator, Subscriber, type Subscription } from 'rxjs';

/**
 * An Observable whose subscribers can't harm the process: what an observer throws, and what an operator throws
 * without an error handler, is reported; rxjs would throw it in a later turn. What `pipe` returns is guarded
 * as well.
 */
export class GuardedObservable<T> extends Observable<T> {
  readonly #report: (error: unknown) => void;

  constructor(
    report: (error: unknown) => void,
    subscribe?: (this: Observable<T>, subscriber: Subscriber<T>) => Subscription,
  ) {
    super(subscribe);
    this.#report = report;
  }

  override lift<R>(operator?: Operator<T, R>): Observable<R> {
    const lifted = new GuardedObservable<R>(this.#report);
    lifted.source = this;
    lifted.operator = operator as Operator<unknown, R>;
    return lifted;
  }

  override subscribe(
    observerOrNext?: Partial<Observer<T>> | ((value: T) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    // The subscriber of an operator: its errors go to the end of the pipe.
    if (observerOrNext instanceof Subscriber) return super.subscribe(observerOrNext);
    // Never spread: an observer such as a Subject inherits its methods.
    const observer: Partial<Observer<T>> =
      typeof observerOrNext === 'function' ? { next: observerOrNext } : (observerOrNext ?? {});
    const onError = error ?? observer.error;
    const onComplete = complete ?? observer.complete;
    return super.subscribe({
      next: (value) => this.#guarded(() => observer.next?.(value)),
      error: (thrown) =>
        onError ? this.#guarded(() => onError.call(observer, thrown)) : this.#report(thrown),
      complete: () => this.#guarded(() => onComplete?.call(observer)),
    });
  }

  #guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#report(error);
    }
  }
}
