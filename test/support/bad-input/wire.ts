import fc from 'fast-check';
import { argument } from '../proxy';
import type { RawContent } from '../raw-bytes';

type Bytes = fc.Arbitrary<Buffer>;

/** The largest header table that RabbitMQ reads: it shares a frame of 128 kB with the other properties. */
const LARGEST_TABLE = 128 * 1024 - 2_600;
/** The size from which amqplib does not write a table. */
const AMQPLIB_TABLE = 64 * 1024;
const LONGEST_SHORT = 255;

const bytes = (options: fc.IntArrayConstraints): Bytes =>
  fc.uint8Array(options).map((octets) => Buffer.from(octets));

const text = (options: fc.StringConstraints): Bytes =>
  fc.string(options).map((characters) => Buffer.from(characters));

/** A text of any language, with control characters, or bytes that are not UTF-8. */
const anyText: Bytes = fc.oneof(
  { weight: 6, arbitrary: text({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: bytes({ maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constant(Buffer.from('\n[Nest] 1  - ERROR root\r\u001b[2J\u202e')) },
);

const shortText: Bytes = fc.oneof(
  { weight: 8, arbitrary: anyText.map((octets) => octets.subarray(0, LONGEST_SHORT)) },
  { weight: 1, arbitrary: fc.constant(Buffer.alloc(LONGEST_SHORT, 'é')) },
  { weight: 1, arbitrary: bytes({ minLength: 200, maxLength: LONGEST_SHORT }) },
);

/** Names that this library, RabbitMQ, amqplib or JavaScript know, and any others. */
export const KNOWN_NAMES = [
  ...['x-settle-attempt', 'x-settle-queue', 'x-settle-reason', 'x-settle-copy'],
  ...['x-settle-exchange', 'x-settle-routing-key', 'x-settle-first-failed-at', 'x-settle-replays'],
  ...['x-settle-origin-queue', 'x-settle-trace', 'x-settle-', 'x-death', 'x-delivery-count'],
  ...['x-acquired-count', 'x-first-death-queue', 'x-last-death-exchange', 'x-delay', 'traceparent'],
  ...['x-opt-rabbitmq-received-time', 'expiration', 'x-match', 'x-retry-count', 'x-stream-offset'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', 'length', '!', 'value'],
] as const;

const name: Bytes = fc.oneof(
  fc.constantFrom(...KNOWN_NAMES).map((known) => Buffer.from(known)),
  shortText,
);

const short = (octets: Buffer): Buffer => Buffer.concat([argument.octet(octets.length), octets]);
const long = (octets: Buffer): Buffer => Buffer.concat([argument.long(octets.length), octets]);

const tagged = (tag: string, value: Bytes): Bytes =>
  value.map((octets) => Buffer.concat([Buffer.from(tag), octets]));

/** Any octets, and those of the smallest and the largest integers. */
const octets = (length: number): Bytes =>
  fc.oneof(
    bytes({ minLength: length, maxLength: length }),
    fc
      .tuple(fc.constantFrom(0x00, 0x7f, 0x80, 0xff), fc.constantFrom(0x00, 0xff))
      .map(([first, others]) => Buffer.alloc(length, others).fill(first, 0, 1)),
  );

// RabbitMQ closes the connection of a publisher over a number that is not finite.
const float = fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => {
  const written = Buffer.alloc(4);
  written.writeFloatBE(value);
  return written;
});
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => {
  const written = Buffer.alloc(8);
  written.writeDoubleBE(value);
  return written;
});

const scalar: Bytes = fc.oneof(
  { weight: 4, arbitrary: tagged('S', anyText.map(long)) },
  { weight: 1, arbitrary: tagged('S', fc.constant(long(Buffer.alloc(20_000, 'y')))) },
  { weight: 2, arbitrary: tagged('x', bytes({ maxLength: 50 }).map(long)) },
  ...(['b', 'B'] as const).map((tag) => ({ weight: 1, arbitrary: tagged(tag, octets(1)) })),
  ...(['s', 'u'] as const).map((tag) => ({ weight: 1, arbitrary: tagged(tag, octets(2)) })),
  ...(['I', 'i'] as const).map((tag) => ({ weight: 1, arbitrary: tagged(tag, octets(4)) })),
  ...(['l', 'T'] as const).map((tag) => ({ weight: 2, arbitrary: tagged(tag, octets(8)) })),
  { weight: 1, arbitrary: tagged('f', float) },
  { weight: 1, arbitrary: tagged('d', double) },
  { weight: 1, arbitrary: tagged('D', octets(5)) },
  { weight: 1, arbitrary: tagged('t', octets(1)) },
  { weight: 1, arbitrary: fc.constant(Buffer.from('V')) },
);

const entries = (value: Bytes, maxLength: number): Bytes =>
  fc
    .array(
      fc.tuple(name, value).map(([key, field]) => Buffer.concat([short(key), field])),
      { maxLength },
    )
    .map((fields) => Buffer.concat(fields));

/** A table in a table in a table: deeper than anybody reads on purpose. */
function nested(levels: number): Buffer {
  let field = Buffer.from('V');
  for (let level = 0; level < levels; level += 1) {
    field = Buffer.concat([
      Buffer.from('F'),
      long(Buffer.concat([short(Buffer.from('n')), field])),
    ]);
  }
  return field;
}

const value: Bytes = fc.letrec<{ any: Buffer }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 12, arbitrary: scalar },
    { weight: 2, arbitrary: tagged('F', entries(tie('any'), 3).map(long)) },
    {
      weight: 1,
      arbitrary: tagged(
        'A',
        fc.array(tie('any'), { maxLength: 3 }).map((items) => long(Buffer.concat(items))),
      ),
    },
    { weight: 1, arbitrary: fc.constantFrom(20, 99, 101, 400).map(nested) },
  ),
})).any;

/** A header that fills a table up to a size around the limits of amqplib and of RabbitMQ. */
const filling: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: AMQPLIB_TABLE - 1_000, max: AMQPLIB_TABLE + 1_000 }),
  fc.integer({ min: LARGEST_TABLE - 1_000, max: LARGEST_TABLE }),
);

const table: Bytes = fc
  .tuple(entries(value, 6), fc.option(filling, { freq: 12, nil: 0 }))
  .map(([fields, size]) => {
    const left = size - fields.length - 20;
    if (left <= 0) return fields.length > LARGEST_TABLE ? Buffer.alloc(0) : fields;
    const field = Buffer.concat([Buffer.from('x'), long(Buffer.alloc(left))]);
    return Buffer.concat([fields, short(Buffer.from('filling')), field]);
  })
  .map(long);

// The flags of the properties, in the order in which their values follow. RabbitMQ refuses a publish with another delivery mode, or with the
// id of another user, and looks at the delay in `expiration`.
const PROPERTIES: readonly (readonly [flag: number, value: Bytes])[] = [
  [
    0x8000,
    fc.oneof(
      fc.constantFrom('application/json', 'text/plain', '').map((type) => short(Buffer.from(type))),
      shortText.map(short),
    ),
  ],
  [
    0x4000,
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc
          .constantFrom('utf-8', 'latin1', 'gzip', 'br', 'deflate', 'gzip, br', 'constructor')
          .map((encoding) => short(Buffer.from(encoding))),
      },
      { weight: 1, arbitrary: shortText.map(short) },
    ),
  ],
  [0x2000, table],
  [0x1000, fc.constantFrom(1, 2).map(argument.octet)],
  [0x0800, octets(1)],
  [0x0200, shortText.map(short)],
  [0x0100, fc.constantFrom('60000', '3600000').map((ms) => short(Buffer.from(ms)))],
  [0x0080, shortText.map(short)],
  [0x0040, octets(8)],
  [0x0020, shortText.map(short)],
  [0x0008, shortText.map(short)],
  [0x0004, shortText.map(short)],
];
/** Between priority and replyTo: it tells the messages apart. */
const CORRELATION = 0x0400;

const some: fc.Arbitrary<readonly (readonly [number, Buffer])[]> = fc
  .tuple(
    ...PROPERTIES.map(([flag, encoded]) =>
      fc.option(
        encoded.map((octets) => [flag, octets] as const),
        { nil: undefined, freq: flag === 0x4000 ? 1 : 2 },
      ),
    ),
  )
  .map((all) => all.filter((property) => property !== undefined));

const body: Bytes = fc.oneof(
  { weight: 5, arbitrary: fc.json().map((json) => Buffer.from(json)) },
  {
    weight: 1,
    arbitrary: fc.constant(Buffer.from('{"__proto__":{"isAdmin":true},"constructor":1}')),
  },
  { weight: 1, arbitrary: bytes({ maxLength: 200 }) },
  { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) },
);

/** A message with any properties but the correlationId, which is the given one. */
export function rawContent(): fc.Arbitrary<(correlationId: string) => RawContent> {
  return fc.tuple(some, body).map(([present, content]) => (correlationId) => {
    const all = [...present, [CORRELATION, argument.text(correlationId)] as const];
    const sorted = all.sort(([one], [other]) => other - one);
    return {
      flags: sorted.reduce((sum, [flag]) => sum | flag, 0),
      properties: Buffer.concat(sorted.map(([, octets]) => octets)),
      body: content,
    };
  });
}
