/**
 * What a Standard Schema reports: the payload, or why it is invalid.
 * @publicApi
 */
export type SchemaResult<Output = unknown> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly object[] };

/**
 * A schema that follows the Standard Schema specification, version 1, such as those of Zod, Valibot and
 * ArkType.
 * @publicApi
 */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** A class with decorators of class-validator. */
export type PayloadClass<T extends object = object> = new (...args: never[]) => T;

/**
 * What `schema` can be: a Standard Schema, or a class with decorators of class-validator.
 * @publicApi
 */
export type PayloadSchema = StandardSchema | PayloadClass;

/**
 * The payload that a schema gives; `unknown` if that is not known.
 * @publicApi
 */
export type PayloadOf<S> = S extends new (
  ...args: never[]
) => infer Instance
  ? Instance
  : S extends StandardSchema
    ? NonNullable<S['~standard']['types']>['output']
    : unknown;

/** Whether a value is a Standard Schema, which can also be a function. Never throws. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  try {
    const { '~standard': standard } = value as Partial<StandardSchema>;
    return typeof standard?.validate === 'function';
  } catch {
    return false; // A proxy or a getter that throws.
  }
}

/** Whether a value can be the `schema` of a subscription. */
export function isPayloadSchema(value: unknown): value is PayloadSchema {
  if (isStandardSchema(value)) return true;
  return typeof value === 'function' && typeof value.prototype === 'object';
}
