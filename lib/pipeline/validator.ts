import { InvalidPayloadError, type PayloadIssue } from '../model/invalid-payload-error';
import { isStandardSchema, type PayloadSchema, type SchemaResult } from '../model/schema';
import { isThenable } from '../model/thenable';
import { classValidator } from './class-validator';

/** The most issues that an error keeps. */
const MOST_ISSUES = 100;

/** Returns the payload that a schema gives, at once if the schema does; throws or rejects if it is invalid. */
export type Validator = (payload: unknown) => unknown;

/**
 * The validator of a schema.
 * @throws if a class has no rules, or the packages that a class needs are not installed.
 */
export function validatorOf(schema: PayloadSchema): Validator {
  const validate = isStandardSchema(schema)
    ? (payload: unknown) => schema['~standard'].validate(payload)
    : classValidator(schema);
  return (payload) => {
    const result = validate(payload);
    return isThenable(result) ? result.then(payloadOf) : payloadOf(result);
  };
}

function payloadOf(result: SchemaResult): unknown {
  if (result.issues === undefined) return result.value;
  const { issues } = result;
  throw new InvalidPayloadError(issues.slice(0, MOST_ISSUES).map(issueOf), issues.length);
}

// Messages are left out: most schemas write the value, or a part of it, into them.
function issueOf(issue: object): PayloadIssue {
  const { path, code, type } = issue as Readonly<Record<string, unknown>>;
  // Not `path.map()`: that of ArkType is of a class of its own.
  const segments: unknown[] = Array.isArray(path) ? Array.from(path) : [];
  return Object.freeze({
    path: Object.freeze(segments.map(keyOf)),
    code: [code, type].find(isCode) ?? 'invalid',
  });
}

function keyOf(segment: unknown): string | number {
  const key: unknown =
    typeof segment === 'object' && segment !== null ? Reflect.get(segment, 'key') : segment;
  return typeof key === 'number' ? key : String(key);
}

function isCode(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z][\w.:-]{0,63}$/.test(value);
}
