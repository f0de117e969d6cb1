import { types } from 'node:util';

// Whatever was thrown can hold texts of a message, of any length: each is cut before anything looks into it.
const LONGEST_TEXT = 4_096;
const LONGEST_STACK = 16_384;
const LONGEST_VALUE = 100;
const MOST_ENTRIES = 10;

const BUILT_IN_NAMES: ReadonlySet<unknown> = new Set([
  ...['Error', 'AggregateError', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError'],
  ...['TypeError', 'URIError'],
]);

/**
 * The class of what was thrown: `class CardDeclined extends Error` need not set `name`. Of a value that is
 * not an object its type. Never throws.
 */
export function thrownName(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return typeof thrown;
  const name = textOf(thrown, 'name');
  const className = classNameOf(thrown);
  if (name === undefined || name === '') return className ?? (isError(thrown) ? 'Error' : 'object');
  // A name that was not set comes from the built-in class.
  const isInherited = BUILT_IN_NAMES.has(name) && !hasOwn(thrown, 'name');
  return isInherited ? (className ?? name) : name;
}

/**
 * The message of what was thrown, line breaks included: the list that a ValidationPipe puts into the response
 * of its exception, the `message`, else the value itself, an object by its own properties. At most 4 096
 * characters. Never throws.
 */
export function thrownMessage(thrown: unknown): string {
  try {
    return messageOf(thrown).slice(0, LONGEST_TEXT);
  } catch {
    return 'a value that cannot be shown';
  }
}

/**
 * The stack of an error in two parts; `undefined` if there is none. The header has the class and the message,
 * at most 4 096 characters; the frames begin with a line break. Never throws.
 */
export function thrownStack(
  thrown: unknown,
): { readonly header: string; readonly frames: string } | undefined {
  const stack = isError(thrown) ? textOf(thrown, 'stack', Infinity) : undefined;
  if (stack === undefined || stack === '') return undefined;
  const name = textOf(thrown, 'name', Infinity) ?? '';
  const message = textOf(thrown, 'message', Infinity) ?? '';
  const written = message === '' ? name : `${name}: ${message}`;
  if (written !== '' && stack.startsWith(written)) {
    return {
      header: `${thrownName(thrown)}${written.slice(name.length)}`.slice(0, LONGEST_TEXT),
      frames: stack.slice(written.length, written.length + LONGEST_STACK),
    };
  }
  // Name or message have changed since, or the stack is not V8's.
  const start = stack.indexOf('\n    at ');
  const end = start === -1 ? stack.length : start;
  return {
    header: stack.slice(0, Math.min(end, LONGEST_TEXT)),
    frames: stack.slice(end, end + LONGEST_STACK),
  };
}

function messageOf(thrown: unknown): string {
  if (typeof thrown === 'function') return '[Function]';
  if (typeof thrown !== 'object' || thrown === null) return String(thrown);
  if (Array.isArray(thrown)) return listText(thrown);
  if (ArrayBuffer.isView(thrown)) return objectText(thrown);
  const message: unknown = propertyOf(thrown, 'message');
  const details = detailsOf(responseOf(thrown), message);
  if (details !== undefined) return details;
  if (typeof message === 'string') return message;
  if (Array.isArray(message)) return listText(message);
  const text = propertyOf(thrown, 'toString');
  const isOwnText = typeof text === 'function' && text !== Object.prototype.toString;
  return isOwnText && !isError(thrown) ? String(thrown) : objectText(thrown);
}

// What Nest's HttpException and RpcException carry beside their message.
function responseOf(thrown: object): unknown {
  const isHttp = typeof propertyOf(thrown, 'getStatus') === 'function';
  const read = propertyOf(thrown, isHttp ? 'getResponse' : 'getError');
  return typeof read === 'function' && isError(thrown) ? read.call(thrown) : undefined;
}

function detailsOf(response: unknown, message: unknown): string | undefined {
  if (Array.isArray(response)) return listText(response);
  if (typeof response !== 'object' || response === null) return undefined;
  const inner = propertyOf(response, 'message');
  if (Array.isArray(inner)) return listText(inner);
  if (typeof inner === 'string') return inner;
  return `${message} ${objectText(response)}`;
}

function listText(list: readonly unknown[]): string {
  const shown = list.slice(0, MOST_ENTRIES).map(entryText);
  const left = list.length - shown.length;
  return shown.join('; ') + (left > 0 ? `; and ${left} more` : '');
}

// A text, or a ValidationError of class-validator.
function entryText(entry: unknown): string {
  if (typeof entry !== 'object' || entry === null) return String(entry).slice(0, LONGEST_TEXT);
  const constraints = propertyOf(entry, 'constraints');
  if (typeof constraints === 'object' && constraints !== null) {
    return listText(Object.values(constraints));
  }
  const children = propertyOf(entry, 'children');
  const property = textOf(entry, 'property');
  if (!Array.isArray(children) || property === undefined) return objectText(entry);
  return `${property}: ${children.length === 0 ? 'invalid' : listText(children)}`;
}

// Its own properties, and nothing inside of them.
function objectText(value: object): string {
  if (ArrayBuffer.isView(value)) return `[${classNameOf(value) ?? 'bytes'}]`;
  const keys = Object.keys(value);
  const shown = keys
    .slice(0, MOST_ENTRIES)
    .map((key) => `${key.slice(0, LONGEST_VALUE)}: ${valueText(value, key)}`);
  if (keys.length > shown.length) shown.push('...');
  return shown.length === 0 ? '{}' : `{ ${shown.join(', ')} }`;
}

function valueText(holder: object, key: string): string {
  const value = propertyOf(holder, key);
  if (typeof value === 'string') return `'${value.slice(0, LONGEST_VALUE)}'`;
  if (typeof value === 'function') return '[Function]';
  if (typeof value !== 'object' || value === null) return String(value);
  return `[${Array.isArray(value) ? 'Array' : (classNameOf(value) ?? 'Object')}]`;
}

function isError(value: unknown): boolean {
  try {
    return value instanceof Error || types.isNativeError(value);
  } catch {
    return false; // A proxy whose traps throw.
  }
}

/** The class of an object; `undefined` for a plain object. Never throws. */
export function classNameOf(value: object): string | undefined {
  const type = propertyOf(value, 'constructor');
  if (typeof type !== 'function') return undefined;
  const name = textOf(type, 'name');
  return name === '' || name === 'Object' ? undefined : name;
}

/** A property of whatever was thrown, if it is a text, cut to `length`. Never throws. */
export function textOf(
  value: unknown,
  property: string,
  length = LONGEST_TEXT,
): string | undefined {
  const text = propertyOf(value, property);
  return typeof text === 'string' ? text.slice(0, length) : undefined;
}

function propertyOf(value: unknown, property: string): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null)
    return undefined;
  try {
    return Reflect.get(value, property);
  } catch {
    return undefined; // A getter or a trap that throws.
  }
}

function hasOwn(value: object, property: string): boolean {
  try {
    return Object.hasOwn(value, property);
  } catch {
    return false;
  }
}
