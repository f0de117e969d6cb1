import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { INSTRUMENTS } from '../../../lib/opentelemetry/instruments';

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

const docs = join(import.meta.dirname, '../../../docs');
const dashboard: { readonly panels: readonly Panel[] } = JSON.parse(
  readFileSync(join(docs, 'grafana-dashboard.json'), 'utf8'),
);
const page = readFileSync(join(docs, 'observability.md'), 'utf8');

/** The names as OpenTelemetry's Prometheus exporter writes them. */
const { consumed, settlements, attempts, stuck, reconnects, duration, queueTime, ...gauges } =
  INSTRUMENTS;
const plain = ({ name }: { readonly name: string }): string => name.replaceAll('.', '_');
const names = [
  ...[consumed, settlements, attempts, stuck, reconnects].map((one) => `${plain(one)}_total`),
  ...[duration, queueTime].map((one) => `${plain(one)}_bucket`),
  ...Object.values(gauges).map(plain),
];

describe('the Grafana dashboard', () => {
  it('shows every metric, and no other', () => {
    const shown = dashboard.panels
      .flatMap(({ targets }) => targets)
      .flatMap(({ expr }) => expr.match(/\b(?:settle|messaging)_\w+(?=\{)/g) ?? []);
    expect([...new Set(shown)].sort()).toEqual([...names].sort());
  });

  it('groups and selects by labels that there are', () => {
    const labels = new Set([
      ...['settle_handler', 'settle_outcome', 'settle_decision', 'settle_status', 'settle_reason'],
      ...['settle_state', 'settle_pause_cause', 'settle_attempts_made', 'error_type', 'le'],
    ]);
    const used = dashboard.panels
      .flatMap(({ targets }) => targets)
      .flatMap(({ expr }) => [
        ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', ')),
        ...[...expr.matchAll(/(\w+)(?:=~|!=|=)"/g)].map(([, label = '']) => label),
      ]);
    expect(used.length).toBeGreaterThan(10);
    expect(used.filter((label) => !labels.has(label))).toEqual([]);
  });

  it.each(Object.values(INSTRUMENTS))('$name is explained in the documentation', ({ name }) => {
    expect(page).toContain(`\`${name}\``);
  });
});
