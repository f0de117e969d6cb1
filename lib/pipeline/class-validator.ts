import { createRequire } from 'node:module';
import { texts } from '../log/texts';
import { InvalidPayloadError } from '../model/invalid-payload-error';
import type { PayloadClass, SchemaResult } from '../model/schema';

/** The part of class-transformer that is used. */
interface ClassTransformer {
  plainToInstance(type: PayloadClass, plain: object): object;
}

/** The part of class-validator that is used. */
interface ClassValidator {
  validate(instance: object, options: object): Promise<readonly ValidationError[]>;
  getMetadataStorage(): {
    getTargetValidationMetadatas(
      type: PayloadClass,
      schema: string,
      always: boolean,
      strictGroups: boolean,
    ): readonly unknown[];
  };
}

interface ValidationError {
  readonly property: string;
  readonly constraints?: Readonly<Record<string, string>>;
  readonly children?: readonly ValidationError[];
}

// Values of the payload stay out of the errors.
const OPTIONS = { whitelist: true, validationError: { target: false, value: false } };

const NOT_AN_OBJECT: SchemaResult = { issues: [{ code: 'isObject' }] };

const resolved = createRequire(__filename);

/**
 * Validates with a class: class-transformer makes an instance of it, class-validator checks that. Properties
 * without a decorator are removed.
 * @param load loads a package; both are loaded only if a subscription has a class for a schema.
 * @throws if a package is missing, or the class has no decorators of class-validator.
 */
export function classValidator(
  type: PayloadClass,
  load: (name: string) => unknown = resolved,
): (payload: unknown) => Promise<SchemaResult> {
  const { plainToInstance } = loaded<ClassTransformer>('class-transformer', load);
  const { validate, getMetadataStorage } = loaded<ClassValidator>('class-validator', load);
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  if (rules.length === 0) throw new Error(texts.classWithoutRules(type.name));
  return async (payload) => {
    if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
      return NOT_AN_OBJECT;
    }
    const instance = transformed(() => plainToInstance(type, payload));
    const errors = await validate(instance, OPTIONS);
    return errors.length === 0 ? { value: instance } : { issues: issuesOf(errors, []) };
  };
}

// A class transforms what it has not validated yet: what fails there is the payload's fault.
function transformed(transform: () => object): object {
  try {
    return transform();
  } catch {
    throw new InvalidPayloadError([{ path: [], code: 'transform' }]);
  }
}

function loaded<T>(name: string, load: (name: string) => unknown): T {
  try {
    return load(name) as T;
  } catch (error) {
    throw new Error(texts.classNeedsPackage(name, error));
  }
}

function issuesOf(errors: readonly ValidationError[], parents: readonly (string | number)[]) {
  const issues: object[] = [];
  for (const { property, constraints = {}, children = [] } of errors) {
    const path = [...parents, /^\d{1,9}$/.test(property) ? Number(property) : property];
    for (const code of Object.keys(constraints)) issues.push({ path, code });
    issues.push(...issuesOf(children, path));
  }
  return issues;
}
