/** Polls until `check` neither throws nor rejects, and gives what it returned; at first in short steps. */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 10_000, everyMs = 20 }: { timeoutMs?: number; everyMs?: number } = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (let stepMs = 2; ; stepMs *= 2) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() >= deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.min(stepMs, everyMs)));
    }
  }
}

/** Waits for a condition. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  options: { timeoutMs?: number; what?: string } = {},
): Promise<void> {
  await eventually(async () => {
    if (!(await condition())) throw new Error(`not in time: ${options.what ?? condition}`);
  }, options);
}

/** A promise that is settled from outside. */
export class Gate<T = void> {
  readonly promise: Promise<T>;
  isOpen = false;
  open: (value: T) => void = () => {};

  constructor() {
    this.promise = new Promise((resolve) => {
      this.open = (value) => {
        this.isOpen = true;
        resolve(value);
      };
    });
  }
}
