import type { PayloadSchema } from '../model/schema';

type JsonSchema = Readonly<Record<string, unknown>>;
type Convert = (options: Readonly<Record<string, unknown>>) => JsonSchema;

const TARGET = 'draft-07';

/**
 * The JSON Schema of the payloads as they are published, if the schema can be converted: by Standard JSON
 * Schema, or by a method `toJSONSchema` as Zod 4 has it.
 */
export function jsonSchemaOf(schema: PayloadSchema): JsonSchema | undefined {
  const { '~standard': standard, toJSONSchema } = schema as {
    readonly '~standard'?: { readonly jsonSchema?: { readonly input?: Convert } };
    readonly toJSONSchema?: Convert;
  };
  // What has no counterpart in JSON Schema, such as a date, becomes a schema that allows anything.
  const lenient = { unrepresentable: 'any' };
  const conversions = [
    () => standard?.jsonSchema?.input?.({ target: TARGET, libraryOptions: lenient }),
    () => toJSONSchema?.call(schema, { target: TARGET, io: 'input', ...lenient }),
  ];
  for (const convert of conversions) {
    try {
      const converted = convert();
      if (converted !== undefined) return withoutDialect(converted);
    } catch {
      // Not convertible: the description has no schema of the payload.
    }
  }
  return undefined;
}

function withoutDialect({ $schema: _dialect, ...schema }: JsonSchema): JsonSchema {
  return schema;
}
