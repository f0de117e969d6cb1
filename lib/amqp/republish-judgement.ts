import { texts } from '../log/texts';
import { RepublishError, type RepublishFailureScope } from '../model/errors';
import { isMessageRefusal, isRefusal, isTooLarge, replyCodeOf } from './refusal';
import type { PublishResult } from './republish-transport';
import type { MessageForm } from './writable-message';

/** How a try publishes. */
export interface Plan {
  readonly form: MessageForm;
  /** Whether on a connection of its own. */
  readonly isAlone: boolean;
}

/**
 * How a try ended: as the publish did, or
 * - `unconfirmed`: written, and without a reply within the time limit;
 * - `blocked`: not written, since the broker blocks the connection;
 * - `unwritten`: not written, since there was no connection, channel or queue.
 */
export type TryResult =
  | PublishResult
  | { readonly status: 'blocked' }
  | { readonly status: 'unwritten'; readonly error: unknown };

/** What follows from a try that was not confirmed: the failure, and how the next try publishes, if any. */
export interface Judgement {
  readonly error: RepublishError;
  readonly next: Plan | undefined;
}

/** Reply codes with which it closes a connection over bytes that it cannot read or write. */
const BROKEN_BY_MESSAGE: ReadonlySet<number> = new Set([501, 502, 503, 505, 541]);
const ACCESS_REFUSED = 403;
const NEXT_FORM: Readonly<Record<MessageForm, MessageForm | undefined>> = {
  whole: 'plain',
  plain: 'bare',
  bare: undefined,
};

/**
 * Tells failures of one message from failures of the broker, and says how the next try publishes. A close
 * that may be the fault of one message is tried again on a connection of its own, so that it harms no other
 * and there is no doubt whose fault it is; then with less and less of the message. Pure.
 */
export function judgeTry(
  plan: Plan,
  result: Exclude<TryResult, { status: 'confirmed' }>,
): Judgement {
  const again = (text: string, scope: RepublishFailureScope = 'broker'): Judgement => ({
    error: new RepublishError(text, { scope }),
    next: plan,
  });
  switch (result.status) {
    case 'returned':
      return again(texts.returned(result.replyCode, result.replyText), 'target');
    case 'refused':
      return again(texts.nacked);
    case 'blocked':
      return again(texts.blocked);
    case 'unconfirmed':
      return {
        error: new RepublishError(texts.unconfirmed, { scope: 'broker', mayHaveArrived: true }),
        next: plan,
      };
    case 'unwritten': {
      const { error } = result;
      const scope = isRefusal(error) ? 'target' : 'broker';
      return { error: errorOf(error, scope), next: plan };
    }
    case 'unencodable':
      return { error: errorOf(result.error, 'broker'), next: reduced(plan) };
    case 'closed':
      return judgeClose(plan, result);
  }
}

function judgeClose(
  plan: Plan,
  { error, isAlone }: Extract<PublishResult, { status: 'closed' }>,
): Judgement {
  const code = replyCodeOf(error) ?? 0;
  if (code === ACCESS_REFUSED)
    return { error: errorOf(error, 'broker', !isAlone), next: undefined };
  const isRefused = isMessageRefusal(error);
  if (!isRefused && !BROKEN_BY_MESSAGE.has(code)) {
    return { error: errorOf(error, 'broker', true), next: plan };
  }
  if (!isAlone) return { error: errorOf(error, 'broker', true), next: { ...plan, isAlone: true } };
  // Without headers it would be as large.
  const next = isTooLarge(error) ? undefined : reduced(plan);
  if (next !== undefined) return { error: errorOf(error, 'broker'), next };
  // A broker that fails over the body alone, without refusing it, is not well.
  return { error: errorOf(error, isRefused ? 'message' : 'target'), next: undefined };
}

function reduced({ form }: Plan): Plan | undefined {
  const next = NEXT_FORM[form];
  return next && { form: next, isAlone: true };
}

function errorOf(
  error: unknown,
  scope: RepublishFailureScope,
  mayHaveArrived = false,
): RepublishError {
  if (error instanceof RepublishError) return error;
  const replyCode = replyCodeOf(error);
  return new RepublishError(texts.republishError(error), {
    scope,
    replyCode,
    mayHaveArrived,
    cause: error,
  });
}
