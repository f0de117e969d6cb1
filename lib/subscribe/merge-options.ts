import type { SubscribeOptions } from '../model/options';

/**
 * Options with others over them. A merge can combine options that the type forbids together; the checks
 * find that.
 */
export function mergeOptions(
  ...layers: readonly (Partial<SubscribeOptions> | undefined)[]
): SubscribeOptions {
  return Object.assign({}, ...layers) as SubscribeOptions;
}
