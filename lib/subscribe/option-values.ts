import { texts } from '../log/texts';
import type { SubscribeOptions } from '../model/options';
import { type OptionRow, SUBSCRIBE_OPTIONS } from './option-table';

/** The values of all options: the subscription's own, else those of the module's defaults, else the fallbacks. */
export function effectiveOptions(
  options: Readonly<Record<string, unknown>>,
  defaults: Readonly<Record<string, unknown>>,
): Record<keyof SubscribeOptions, unknown> {
  const values = Object.entries(SUBSCRIBE_OPTIONS).map(([name, { inDefaults, fallback }]) => [
    name,
    options[name] ?? (inDefaults ? defaults[name] : undefined) ?? fallback,
  ]);
  return Object.fromEntries(values);
}

/** Faults of the values that are set, a line each; of required ones also if they are not set. */
export function valueFaults(
  handler: string,
  prefix: string,
  rows: Readonly<Record<string, OptionRow>>,
  values: Readonly<Record<string, unknown>>,
): string[] {
  return Object.entries(rows).flatMap(([name, { expected, byDefault, accepts }]) => {
    const value = values[name];
    const isLeftOut = value === undefined && byDefault !== 'required';
    if (accepts === undefined || isLeftOut || accepts(value)) return [];
    return [texts.option(handler, `${prefix}${name}`, expected, value)];
  });
}
