import { Injectable } from '@nestjs/common';

/** One column of a line: its text, and the width to which it is padded. */
export type Column = readonly [text: string, width: number];

/** Writes lines in aligned columns. */
@Injectable()
export class Screen {
  #began = performance.now();

  /** A heading; the times of the following lines count from it. */
  heading(text: string): void {
    this.#began = performance.now();
    console.log(`\n${text}`);
  }

  /** One line: the time, then columns. */
  timedRow(...columns: readonly Column[]): void {
    const seconds = ((performance.now() - this.#began) / 1000).toFixed(2);
    this.row([`${seconds} s`.padStart(7), 7], ...columns);
  }

  row(...columns: readonly Column[]): void {
    const texts = columns.map(([text, width]) => text.padEnd(width));
    console.log(`  ${texts.join('  ')}`.trimEnd());
  }
}
