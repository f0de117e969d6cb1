import { posix } from 'node:path';
import { type Import, importsOf, parse, sentencesToLoggersOf, timeUsesOf } from './source-file';

/** The files of lib: by path relative to it, with their texts. */
export type Files = ReadonlyMap<string, string>;

const MOST_LINES = 250;

const BELOW_RUNTIME = [
  'outcome',
  'subscription',
  'delivery',
  'pipeline',
  'broker',
  'settlement',
  'rabbitmq',
  'memory',
];

/** What each folder and each file beside the folders may import, beside itself and the clock. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  'clock.ts': [],
  outcome: [],
  subscription: ['outcome'],
  delivery: ['outcome', 'subscription'],
  pipeline: ['outcome', 'subscription', 'delivery'],
  broker: ['outcome', 'subscription', 'delivery'],
  settlement: ['outcome', 'subscription', 'delivery', 'pipeline', 'broker'],
  rabbitmq: ['outcome', 'subscription', 'delivery', 'broker'],
  memory: ['outcome', 'subscription', 'delivery', 'broker'],
  runtime: BELOW_RUNTIME,
  'settle.module.ts': [...BELOW_RUNTIME, 'client'],
  'index.ts': [...BELOW_RUNTIME, 'client', 'settle.module.ts'],
  testing: [...BELOW_RUNTIME, 'client', 'settle.module.ts'],
};

/** Types that are named against the direction: a value there would be a cycle. */
const TYPES_AGAINST_THE_DIRECTION: ReadonlySet<string> = new Set([
  'outcome/outcome.ts -> settlement/settlement.ts',
  'outcome/policy.ts -> delivery/delivery.ts',
]);

interface PackageRule {
  readonly packages: RegExp;
  /** Where anything of it may be imported: folders and files. */
  readonly anywhere: readonly string[];
  /** The files that may import its types, too. */
  readonly types: readonly string[];
}

const PACKAGES: readonly PackageRule[] = [
  {
    packages: /^@golevelup\//,
    // The test kit puts its own in the place of golevelup's providers.
    anywhere: ['rabbitmq', 'testing'],
    types: [
      'subscription/options.ts',
      'subscription/subscription.ts',
      'pipeline/decode.ts',
      'pipeline/chain.ts',
    ],
  },
  {
    packages: /^(amqplib|amqp-connection-manager)(\/|$)/,
    anywhere: ['rabbitmq'],
    types: ['delivery/message.ts'],
  },
  {
    packages: /^@nestjs\/core(\/|$)/,
    anywhere: ['client', 'testing', 'settle.module.ts'],
    types: [],
  },
];

/** The entry points of the package: for users, and for nobody inside. */
const ENTRANCES: ReadonlySet<string> = new Set(['index.ts', 'testing/index.ts']);

interface Edge extends Import {
  readonly importer: string;
  /** A path in lib; undefined where a package is imported. */
  readonly target: string | undefined;
}

/** Everything in which lib is not as the design says, a line each. */
export function violationsOf(files: Files): readonly string[] {
  const found: string[] = [];
  const edges: Edge[] = [];
  for (const [path, text] of files) {
    const source = parse(path, text);
    const imports = importsOf(source);
    edges.push(
      ...imports.map((one) => ({ ...one, importer: path, target: targetOf(path, one, files) })),
    );
    const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
    if (lines > MOST_LINES) found.push(`${path}: ${lines} lines`);
    if (LAYERS[layerOf(path)] === undefined) found.push(`${path}: in no folder of the design`);
    if (path !== 'clock.ts') {
      found.push(...timeUsesOf(source).map(({ line, what }) => `${path}:${line}: ${what}`));
    }
    if (path !== 'outcome/messages.ts') {
      const sentences = sentencesToLoggersOf(source);
      found.push(...sentences.map(({ line, what }) => `${path}:${line}: a text: ${what}`));
    }
  }
  return [
    ...found,
    ...edges.flatMap(directionFaults),
    ...edges.flatMap(packageFaults),
    ...cyclesIn(edges),
  ];
}

function layerOf(path: string): string {
  return path.split('/')[0] ?? path;
}

function targetOf(importer: string, { from }: Import, files: Files): string | undefined {
  if (!from.startsWith('.')) return undefined;
  const path = posix.normalize(posix.join(posix.dirname(importer), from));
  const candidates = [path, `${path}.ts`, path === '.' ? 'index.ts' : `${path}/index.ts`];
  return candidates.find((candidate) => files.has(candidate)) ?? path;
}

function directionFaults({ importer, target, line, typeOnly }: Edge): string[] {
  if (target === undefined || target === 'clock.ts') return [];
  const fault = `${importer}:${line}: imports ${target}`;
  if (ENTRANCES.has(target)) return [fault];
  const [from, to] = [layerOf(importer), layerOf(target)];
  if (from === to) return [];
  if (LAYERS[from]?.includes(to)) return [];
  if (typeOnly && TYPES_AGAINST_THE_DIRECTION.has(`${importer} -> ${target}`)) return [];
  return [fault];
}

function packageFaults({ importer, target, from, line, typeOnly }: Edge): string[] {
  if (target !== undefined) return [];
  return PACKAGES.filter(({ packages }) => packages.test(from))
    .filter(({ anywhere }) => !anywhere.includes(layerOf(importer)))
    .filter(({ types }) => !(typeOnly && types.includes(importer)))
    .map(() => `${importer}:${line}: imports ${typeOnly ? 'types of ' : ''}${from}`);
}

/** The cycles of files that need each other to load, each once. */
function cyclesIn(edges: readonly Edge[]): string[] {
  const next = new Map<string, string[]>();
  for (const { importer, target, typeOnly } of edges) {
    if (target === undefined || typeOnly) continue;
    next.set(importer, [...(next.get(importer) ?? []), target]);
  }
  const done = new Set<string>();
  const cycles = new Set<string>();
  const walk = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.add(`a cycle: ${[...trail.slice(start), path].join(' -> ')}`);
    if (start >= 0 || done.has(path)) return;
    for (const target of next.get(path) ?? []) walk(target, [...trail, path]);
    done.add(path);
  };
  for (const path of next.keys()) walk(path, []);
  return [...cycles];
}
