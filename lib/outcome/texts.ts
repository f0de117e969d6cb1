import { inspect, types } from 'node:util';

/** What was found, shortened to a part of a line. */
export function found(value: unknown): string {
  try {
    const shown = types.isNativeError(value)
      ? String(value)
      : inspect(value, {
          depth: 1,
          breakLength: Number.POSITIVE_INFINITY,
          maxStringLength: 60,
        });
    const text = shown.replace(/\s*\n\s*/g, ' ');
    return text.length > 120 ? `${text.slice(0, 117)}...` : text;
  } catch {
    return 'a value that can not be shown';
  }
}

export function named(name: string): string {
  return name === '' ? '' : ` "${name}"`;
}

export function idText(messageId: unknown): string {
  return typeof messageId === 'string' ? `"${messageId.slice(0, 100)}"` : 'without id';
}

/** A span in ms as seconds; tenths of them where it is short. */
export function secondsText(ms: number): string {
  return `${ms < 10_000 ? Math.round(ms / 100) / 10 : Math.round(ms / 1000)} s`;
}

export interface MessageFacts {
  readonly messageId?: string | undefined;
  readonly queue: string;
  readonly attempt: number;
}

export function messageText({ messageId, queue }: MessageFacts): string {
  return `message ${idText(messageId)} of queue "${queue}"`;
}

export function errorText(error: unknown): string {
  try {
    const text = String(error).replace(/\s*\n\s*/g, ' ');
    return text.length > 300 ? `${text.slice(0, 297)}...` : text;
  } catch {
    return 'an error that has no text';
  }
}

export interface SubscriptionFacts {
  readonly queue: string | undefined;
  readonly queueType: string;
  readonly noAck: boolean;
  readonly retry: { readonly attempts: number; readonly by: string } | undefined;
  readonly backoff: { delay(attempt: number): number };
  readonly deadLetter: { readonly queue: string; readonly by: string } | undefined;
  readonly timeout: number | undefined;
  readonly onError: { readonly rules: readonly unknown[]; readonly otherwise: unknown };
  readonly onPanic: unknown;
  readonly onUndecodable: unknown;
}

export function policyText(policy: unknown): string {
  if (typeof policy === 'string') return policy;
  return `${(policy as { readonly kind?: string } | undefined)?.kind}()`;
}

/** The first delays of a backoff; one of the application's own may throw. */
export function backoffText(backoff: SubscriptionFacts['backoff']): string {
  try {
    return `${[1, 2, 3].map((attempt) => `${backoff.delay(attempt)}ms`).join(', ')}, ...`;
  } catch {
    return 'of its own, which throws';
  }
}
