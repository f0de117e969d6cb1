const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g;
/** Words that are ids if they have digits as well as letters. */
const WORDS = [
  // Of at least 16 characters, such as the ids of databases.
  /[A-Za-z0-9_-]{16,}/g,
  /\b0x[0-9a-f]+\b/gi,
  // Hexadecimal ones, such as the short hash of a commit.
  /\b[0-9a-f]{7,}\b/gi,
];
const NUMBER = /\d+(?:[.,]\d+)*/g;

/**
 * The message of an error without the numbers and ids that differ from one occurrence to the next, and in one
 * line: `Order 4711 not found` becomes `Order <n> not found`.
 */
export function normalisedMessage(message: string): string {
  let text = message.replace(UUID, '<id>').replace(TIME, '<time>');
  for (const word of WORDS) text = text.replace(word, (match) => (isId(match) ? '<id>' : match));
  return text.replace(NUMBER, '<n>').replace(/\s+/g, ' ').trim();
}

function isId(word: string): boolean {
  return /\d/.test(word) && /[A-Za-z]/.test(word);
}
