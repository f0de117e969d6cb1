import { invalidPayloadText } from '../log/invalid-payload-text';

/**
 * One fault of a payload: where it is and what it is, never the value.
 * @publicApi
 */
export interface PayloadIssue {
  /** The property names and indexes that lead to the fault; empty for the payload as a whole. */
  readonly path: readonly (string | number)[];
  /** The schema's own code: `too_small` of Zod, `isEmail` of class-validator; `invalid` if it has none. */
  readonly code: string;
}

/**
 * A payload does not match the `schema` of its subscription. The message lists paths and codes in at most
 * 1 024 bytes: no value of the payload, and no key that is not an ordinary name.
 * @publicApi
 */
export class InvalidPayloadError extends Error {
  override readonly name: string = 'InvalidPayloadError';
  /** The first 100 issues. */
  readonly issues: readonly PayloadIssue[];

  /** @param total how many issues there are in all. */
  constructor(issues: readonly PayloadIssue[], total: number = issues.length) {
    super(invalidPayloadText(issues, total));
    this.issues = issues;
  }
}
