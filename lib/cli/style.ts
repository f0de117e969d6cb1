import type { CliHost } from './host';

/** Colours and emphasis of a text; without colours, the text itself. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
}

const PLAIN: Style = {
  bold: (text) => text,
  dim: (text) => text,
  red: (text) => text,
  green: (text) => text,
  yellow: (text) => text,
};

const COLOURED: Style = {
  bold: code(1, 22),
  dim: code(2, 22),
  red: code(31, 39),
  green: code(32, 39),
  yellow: code(33, 39),
};

/** Whether to use colours: in a terminal, unless `NO_COLOR` is set; elsewhere with `FORCE_COLOR` only. */
export function hasColours({ env }: Pick<CliHost, 'env'>, isTerminal: boolean): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0';
  return isTerminal && env['TERM'] !== 'dumb';
}

/** The style of results. */
export function styleOf(host: CliHost): Style {
  return hasColours(host, host.outIsTerminal) ? COLOURED : PLAIN;
}

function code(start: number, end: number): (text: string) => string {
  return (text) => (text === '' ? text : `\u001b[${start}m${text}\u001b[${end}m`);
}
