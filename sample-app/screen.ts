import { Injectable } from '@nestjs/common';

/** One column of a line: its text, and the width to which it is filled up. */
export type Column = readonly [text: string, width: number];

/** Writes lines that line up. */
@Injectable()
export class Screen {
  #began = performance.now();

  /** A line above others; the times in them count from here. */
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
