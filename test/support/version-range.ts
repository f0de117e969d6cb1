/** A release of RabbitMQ, `4.3` for example. */
export type Release = `${number}.${number}`;

/** Which versions of RabbitMQ a test is for, and why it is not for the others. */
export interface VersionRange {
  /** The first release it is for. */
  readonly from?: Release;
  /** The first release that it is no longer for. */
  readonly before?: Release;
  readonly because: string;
}

/** Whether a version, `4.3.6` for example, lies in a range. */
export function includes({ from, before }: VersionRange, version: string): boolean {
  return (
    (from === undefined || compareReleases(version, from) >= 0) &&
    (before === undefined || compareReleases(version, before) < 0)
  );
}

/** A range in words: `RabbitMQ from 4.3 on: a nack is not counted`. */
export function describeRange({ from, before, because }: VersionRange): string {
  const limits = [from && `from ${from} on`, before && `before ${before}`].filter(Boolean);
  return `RabbitMQ ${limits.join(', ')}: ${because}`;
}

/** Below 0 where the first is of an earlier release than the second; patches do not count. */
function compareReleases(first: string, second: string): number {
  const [major = 0, minor = 0] = first.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = second.split('.').map(Number);
  return major - otherMajor || minor - otherMinor;
}
