import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import { texts } from '../log/texts';
import { SettleStartupError } from '../model/errors';

/**
 * How the span of an attempt is related to its producer's:
 * - `auto`: attempt 1 is a child of the producer's span; each later attempt begins a trace of its own, with
 *   links to the producer and to the attempt before, so that no trace grows with the retries;
 * - `parent`: every attempt is a child of the producer's span, later ones with a link to the attempt before;
 * - `link`: every attempt begins a trace of its own, with links.
 * @publicApi
 */
export type SpanRelation = 'auto' | 'parent' | 'link';

/**
 * When a span has the status ERROR:
 * - `failure`: an attempt has failed, a message has ended undone, or a settlement was not sent;
 * - `deadLetter`: only when a message is dead-lettered, rejected, or shuts the application down.
 * @publicApi
 */
export type ErrorSpans = 'failure' | 'deadLetter';

/**
 * The options of `SettleOpenTelemetryModule.forRoot`.
 * @publicApi
 */
export interface SettleOpenTelemetryOptions {
  /**
   * Whether each delivery gets a span.
   * @default true
   */
  readonly traces?: boolean;
  /**
   * Whether metrics are kept.
   * @default true
   */
  readonly metrics?: boolean;
  /**
   * How spans are related to their producer's.
   * @default 'auto'
   * @example 'parent'
   */
  readonly relation?: SpanRelation;
  /**
   * When a span has the status ERROR.
   * @default 'failure'
   * @example 'deadLetter'
   */
  readonly errorOn?: ErrorSpans;
  /**
   * Where spans go.
   * @default the global tracer provider
   */
  readonly tracerProvider?: TracerProvider;
  /**
   * Where metrics go.
   * @default the global meter provider
   */
  readonly meterProvider?: MeterProvider;
}

/** The options with their defaults. */
export type ResolvedOpenTelemetryOptions = Required<
  Pick<SettleOpenTelemetryOptions, 'traces' | 'metrics' | 'relation' | 'errorOn'>
> &
  Pick<SettleOpenTelemetryOptions, 'tracerProvider' | 'meterProvider'>;

type Check = readonly [expected: string, accepts: (value: unknown) => boolean];

const BOOLEAN: Check = ['true or false', (value) => typeof value === 'boolean'];
const has =
  (method: string) =>
  (value: unknown): boolean =>
    typeof (value as Record<string, unknown> | null)?.[method] === 'function';

const CHECKS: Readonly<Record<keyof SettleOpenTelemetryOptions, Check>> = {
  traces: BOOLEAN,
  metrics: BOOLEAN,
  relation: oneOf('auto', 'parent', 'link'),
  errorOn: oneOf('failure', 'deadLetter'),
  tracerProvider: ['a tracer provider', has('getTracer')],
  meterProvider: ['a meter provider', has('getMeter')],
};

function oneOf(...values: readonly string[]): Check {
  const list = values.map((value) => `'${value}'`).join(', ');
  return [`one of ${list}`, (value) => values.includes(value as string)];
}

/** @throws SettleStartupError with a line for each option that is not valid. */
export function resolveOpenTelemetryOptions(
  options: SettleOpenTelemetryOptions,
): ResolvedOpenTelemetryOptions {
  const faults: string[] = [];
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const [expected, accepts] = Object.hasOwn(CHECKS, name)
      ? CHECKS[name as keyof SettleOpenTelemetryOptions]
      : [`no such option, but ${Object.keys(CHECKS).join(', ')}`, () => false];
    if (!accepts(value)) faults.push(texts.openTelemetryOption(name, expected, value));
  }
  if (faults.length > 0) throw new SettleStartupError(faults);
  const { traces = true, metrics = true, relation = 'auto', errorOn = 'failure' } = options;
  return { ...options, traces, metrics, relation, errorOn };
}
