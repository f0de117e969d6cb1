/**
 * A number of bytes, or a text such as `'512KiB'`, `'16MiB'`, `'1GiB'`, `'64kB'`, `'10MB'`.
 * @publicApi
 */
export type Size = number | `${number}${'B' | 'kB' | 'KB' | 'MB' | 'GB' | 'KiB' | 'MiB' | 'GiB'}`;

const UNITS: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1_000,
  KB: 1_000,
  MB: 1_000 ** 2,
  GB: 1_000 ** 3,
  KiB: 1_024,
  MiB: 1_024 ** 2,
  GiB: 1_024 ** 3,
};

/** No size needs more characters; a text can come from anywhere. */
const LONGEST_TEXT = 40;

/** The largest valid size: a body has to fit into a buffer. */
const LARGEST = 2 ** 31 - 1;

/**
 * The number of bytes of a size, a fraction rounded down; `undefined` if the value is not a size, below 1, or
 * 2 GiB and more.
 */
export function bytes(value: unknown): number | undefined {
  const count = typeof value === 'string' ? bytesOfText(value) : value;
  if (typeof count !== 'number' || !(count >= 1) || count > LARGEST) return undefined;
  return Math.floor(count);
}

function bytesOfText(text: string): number | undefined {
  if (text.length > LONGEST_TEXT) return undefined;
  const [, amount = '', unit = ''] = /^(\S+?)([kKMG]?i?B)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  return factor === undefined ? undefined : Number(amount) * factor;
}

/** A number of bytes as people write it: `16MiB`, `1500B`. */
export function sizeText(count: number): string {
  for (const unit of ['GiB', 'MiB', 'KiB']) {
    const factor = UNITS[unit] ?? 1;
    if (count >= factor && count % factor === 0) return `${count / factor}${unit}`;
  }
  return `${count}B`;
}
