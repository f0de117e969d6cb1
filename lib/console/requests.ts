import type { DeadLetterFilter } from '../dead-letters/filter';
import { texts } from '../log/texts';

/** A request that is not valid: replied to with 400. */
export class BadRequest extends Error {}

/** What the body of a request to replay or discard selects. */
export interface Selection {
  readonly where: DeadLetterFilter;
  readonly ids: readonly string[] | undefined;
  readonly limit: number | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const MOST_IDS = 5_000;
const WHERE = ['reason', 'errorName', 'handler', 'messageId', 'group', 'from', 'to'] as const;

/** @throws BadRequest if the body is not an object. */
export function fieldsOf(body: unknown): Fields {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Fields;
  throw new BadRequest(texts.consoleBadRequest('body', 'a JSON object'));
}

/** @throws BadRequest if a field is not valid. */
export function selectionOf(fields: Fields): Selection {
  const { ids } = fields;
  if (ids !== undefined) {
    const isValid = Array.isArray(ids) && ids.length > 0 && ids.length <= MOST_IDS;
    if (!isValid || !ids.every((id) => typeof id === 'string')) {
      throw new BadRequest(texts.consoleBadRequest('ids', `1 to ${MOST_IDS} ids`));
    }
  }
  return {
    where: whereOf(fields['where'] === undefined ? {} : fieldsOf(fields['where'])),
    ids: ids as readonly string[] | undefined,
    limit: countOf(fields, 'limit'),
  };
}

/** @throws BadRequest if a filter is not valid: a misspelt one would select everything. */
export function whereOf(fields: Fields): DeadLetterFilter {
  const entries = Object.entries(fields).map(([name, value]) => {
    if (!WHERE.some((known) => known === name) || typeof value !== 'string') {
      throw new BadRequest(texts.consoleBadRequest('where', `texts of ${WHERE.join(', ')}`));
    }
    return [name, value];
  });
  return Object.fromEntries(entries) as DeadLetterFilter;
}

/** @throws BadRequest if the field is there and is not a whole number above 0. */
export function countOf(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  throw new BadRequest(texts.consoleBadRequest(name, 'a whole number above 0'));
}

/** @throws BadRequest if the field is there and is not a text. */
export function textOf(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new BadRequest(texts.consoleBadRequest(name, 'a text'));
}
