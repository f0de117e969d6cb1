import { posix } from 'node:path';
import {
  constructorsOf,
  type Import,
  importsOf,
  parse,
  sentencesToLoggersOf,
  timeUsesOf,
} from './source-file';

/** The files of lib: by path relative to it, with their texts. */
export type Files = ReadonlyMap<string, string>;

const MOST_LINES = 250;
const MOST_PARAMETERS = 7;

const MESSAGE = ['log', 'model', 'delivery'];
const APPLICATION = [...MESSAGE, 'subscribe', 'pipeline', 'amqp', 'settlement', 'nest'];
const MODULE = [...APPLICATION, 'description', 'lifecycle', 'rabbitmq'];

/** What each room, and each file beside the rooms, may import besides itself and what all may. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  'clock.ts': [],
  'linked-list.ts': [],
  log: [],
  model: ['log'],
  subscribe: ['log', 'model'],
  delivery: ['log', 'model'],
  pipeline: MESSAGE,
  amqp: MESSAGE,
  settlement: [...MESSAGE, 'pipeline', 'amqp'],
  rabbitmq: [...MESSAGE, 'amqp'],
  memory: [...MESSAGE, 'amqp'],
  nest: [...MESSAGE, 'subscribe', 'pipeline'],
  description: [...MESSAGE, 'amqp', 'settlement'],
  lifecycle: [...APPLICATION, 'description'],
  'connections.ts': ['nest', 'rabbitmq'],
  'dead-letters': [...MESSAGE, 'amqp', 'nest', 'rabbitmq', 'connections.ts'],
  cli: [...MODULE, 'dead-letters'],
  console: [...MESSAGE, 'amqp', 'nest', 'lifecycle', 'dead-letters'],
  opentelemetry: [...MESSAGE, 'settlement', 'lifecycle', 'nest'],
  terminus: [...MESSAGE, 'lifecycle', 'nest'],
  testing: [...MODULE, 'memory', 'settle.module.ts'],
  'settle.module.ts': [...MODULE, 'connections.ts'],
  'index.ts': [...MODULE, 'settle.module.ts'],
};

/** What every room may import. */
const SHARED: ReadonlySet<string> = new Set(['clock.ts', 'linked-list.ts']);

interface PackageRule {
  readonly packages: RegExp;
  /** The rooms and files that may import anything of it. */
  readonly anywhere: readonly string[];
  /** The files that may import its types, too. */
  readonly types: readonly string[];
}

const PACKAGES: readonly PackageRule[] = [
  {
    packages: /^@golevelup\//,
    // The test kit replaces golevelup's providers.
    anywhere: ['rabbitmq', 'testing', 'nest/golevelup-metadata.ts'],
    types: [
      'model/options.ts',
      'model/subscription-metadata.ts',
      'pipeline/decode.ts',
      'pipeline/chain.ts',
    ],
  },
  {
    packages: /^(amqplib|amqp-connection-manager)(\/|$)/,
    anywhere: ['rabbitmq'],
    types: ['model/delivery.ts'],
  },
  {
    // What does not import the command does not load it.
    packages: /^commander(\/|$)/,
    anywhere: ['cli'],
    types: [],
  },
  {
    packages: /^@nestjs\/core(\/|$)/,
    anywhere: [
      ...['nest', 'lifecycle', 'testing', 'settle.module.ts', 'connections.ts'],
      ...['subscribe/module-check.ts', 'dead-letters/dead-letters.module.ts'],
      'cli/application.ts',
    ],
    types: [],
  },
  // Optional peers: only their entry loads them.
  { packages: /^@opentelemetry\//, anywhere: ['opentelemetry'], types: [] },
  { packages: /^@nestjs\/terminus(\/|$)/, anywhere: ['terminus'], types: [] },
];

/** The entry points of the package, which no file of lib imports. */
const ENTRIES: ReadonlySet<string> = new Set([
  'index.ts',
  'testing/index.ts',
  'dead-letters/index.ts',
  'opentelemetry/index.ts',
  'terminus/index.ts',
]);

interface Edge extends Import {
  readonly importer: string;
  /** A path in lib; `undefined` for a package. */
  readonly target: string | undefined;
}

/** The violations of the architecture, one line each. */
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
    if (LAYERS[layerOf(path)] === undefined) found.push(`${path}: in no room of the architecture`);
    if (path !== 'clock.ts') {
      found.push(...timeUsesOf(source).map(({ line, what }) => `${path}:${line}: ${what}`));
    }
    const sentences = sentencesToLoggersOf(source);
    found.push(...sentences.map(({ line, what }) => `${path}:${line}: a text: ${what}`));
    for (const { line, parameters } of constructorsOf(source)) {
      if (parameters <= MOST_PARAMETERS) continue;
      found.push(`${path}:${line}: a constructor with ${parameters} parameters`);
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

function directionFaults({ importer, target, line }: Edge): string[] {
  if (target === undefined || SHARED.has(target)) return [];
  const [from, to] = [layerOf(importer), layerOf(target)];
  const isAllowed = from === to || LAYERS[from]?.includes(to) === true;
  return isAllowed && !ENTRIES.has(target) ? [] : [`${importer}:${line}: imports ${target}`];
}

function packageFaults({ importer, target, from, line, typeOnly }: Edge): string[] {
  if (target !== undefined) return [];
  return PACKAGES.filter(({ packages }) => packages.test(from))
    .filter(({ anywhere }) => !anywhere.includes(layerOf(importer)) && !anywhere.includes(importer))
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
