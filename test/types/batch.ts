// Checked by the compiler only: each line marked as an error has to be one.
import { of } from 'rxjs';
import { z } from 'zod';
import { type BatchResult, type Delivery, drop, type Outcome, Subscribe } from '../../lib';

interface Row {
  readonly id: number;
}

const schema = z.object({ id: z.coerce.number() });

export class Batches {
  @Subscribe({ queue: 'q', batch: { size: 10 } })
  nothing(): void {}

  @Subscribe({ queue: 'q', batch: { size: 10 } })
  async each(
    rows: readonly Row[],
    deliveries: readonly Delivery[],
  ): Promise<(Outcome | undefined)[]> {
    return rows.map((_row, index) => (deliveries[index]?.redelivered ? drop() : undefined));
  }

  @Subscribe({ queue: 'q', batch: { size: 10, wait: '1s', concurrency: 2, isolateRetries: false } })
  one(rows: Row[]): Outcome | void {
    if (rows.length > 1) return drop();
  }

  @Subscribe({ queue: 'q', batch: { size: 10 } })
  stream(): BatchResult {
    return of([undefined]);
  }

  @Subscribe({ queue: 'q', schema, batch: { size: 10 } })
  typed(rows: readonly Row[]): void {
    rows.at(0)?.id.toFixed();
  }

  // @ts-expect-error A batch is a list.
  @Subscribe({ queue: 'q', batch: { size: 10 } })
  single(row: Row): number {
    return row.id;
  }

  // @ts-expect-error The schema gives numbers.
  @Subscribe({ queue: 'q', schema, batch: { size: 10 } })
  otherPayload(rows: readonly { id: string }[]): void {
    rows.at(0)?.id.trim();
  }

  // @ts-expect-error A text is no outcome.
  @Subscribe({ queue: 'q', batch: { size: 10 } })
  texts(rows: readonly Row[]): string[] {
    return rows.map(() => 'ack');
  }

  // @ts-expect-error Without batch a method returns one outcome.
  @Subscribe({ queue: 'q' })
  list(): Outcome[] {
    return [drop()];
  }

  // @ts-expect-error There is no such option.
  @Subscribe({ queue: 'q', batch: { size: 10, timeout: '1s' } })
  unknown(): void {}
}
