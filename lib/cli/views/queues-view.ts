import type { QueueGroup } from '../queue-groups';
import type { Style } from '../style';
import { type Column, tableOf } from '../table';

const COLUMNS: readonly Column[] = [
  { heading: 'QUEUE' },
  { heading: 'READY', isNumber: true },
  { heading: 'UNACKED', isNumber: true },
  { heading: 'CONSUMERS', isNumber: true },
  { heading: 'WAITING', isNumber: true },
  { heading: 'DEAD', isNumber: true },
  { heading: 'DEAD-LETTER QUEUE' },
];

/** Queues with the numbers of their messages, for people. */
export function queuesView(groups: readonly QueueGroup[], style: Style, columns: number): string {
  return tableOf(COLUMNS, groups.map(rowOf), style, columns);
}

function rowOf(group: QueueGroup): string[] {
  const { name, ready, unacknowledged, consumers, waiting, dead, deadLetterQueue = '-' } = group;
  const counts = [ready, unacknowledged, consumers, waiting, dead];
  return [name, ...counts.map((count) => String(count ?? '-')), deadLetterQueue];
}
