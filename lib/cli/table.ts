import { escaped } from '../log/format';
import type { Style } from './style';

/** A column: its heading, and whether it holds numbers, which are aligned at the right. */
export interface Column {
  readonly heading: string;
  readonly isNumber?: boolean;
}

const GAP = '  ';

/**
 * A table with a heading line. Control characters are escaped; in a terminal, lines are cut at its width.
 * @param columns the width of the terminal.
 */
export function tableOf(
  heads: readonly Column[],
  rows: readonly (readonly string[])[],
  style: Style,
  columns: number,
): string {
  const cells = rows.map((row) => row.map((cell) => escaped(cell)));
  const widths = heads.map(({ heading }, index) =>
    Math.max(heading.length, ...cells.map((row) => (row[index] ?? '').length)),
  );
  const lineOf = (row: readonly string[]): string => {
    const line = row.map((cell, index) => {
      const width = widths[index] ?? 0;
      return heads[index]?.isNumber ? cell.padStart(width) : cell.padEnd(width);
    });
    return cut(line.join(GAP).trimEnd(), columns);
  };
  const heading = style.dim(lineOf(heads.map((head) => head.heading)));
  return [heading, ...cells.map(lineOf)].map((line) => `${line}\n`).join('');
}

/** A line that is no wider than the terminal. */
export function cut(line: string, columns: number): string {
  return line.length <= columns ? line : `${line.slice(0, Math.max(0, columns - 1))}…`;
}
