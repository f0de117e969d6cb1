import { randomUUID } from 'node:crypto';

const names = new Set<string>();

/** A unique name. Queues whose names begin with it are deleted after the test file. */
export function unique(name: string): string {
  const made = `${name}.${randomUUID().slice(0, 8)}`;
  names.add(made);
  return made;
}

/** The names that {@link unique} has made in this test file. */
export function uniqueNames(): readonly string[] {
  return [...names];
}
