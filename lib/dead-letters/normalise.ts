const ID = '<id>';
const NUMBER = '<n>';

/** What differs between two occurrences of one error, and what stands in its place. */
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, ID],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  // Words of at least 16 characters with digits in them, such as the ids of databases.
  [/[A-Za-z0-9_-]{16,}/g, ID],
  [/\b0x[0-9a-f]+\b/gi, ID],
  // Hexadecimal words with a digit in them, such as the short hash of a commit.
  [/\b[0-9a-f]{7,}\b/gi, ID],
  [/\d+(?:[.,]\d+)*/g, NUMBER],
  [/\s+/g, ' '],
];

const DIGIT = /\d/;

/**
 * The message of an error without the numbers and ids that differ from one occurrence to the next, and in one
 * line: `Order 4711 not found` becomes `Order <n> not found`.
 */
export function normalisedMessage(message: string): string {
  let text = message;
  for (const [pattern, replacement] of REPLACEMENTS) {
    text = text.replace(pattern, (match) =>
      replacement === ID && !DIGIT.test(match) ? match : replacement,
    );
  }
  return text.trim();
}
