import type { DeadLetters } from '../dead-letters/dead-letters';

/** Does something with the dead letters of the broker at an URL, and disconnects. */
export async function withDeadLetters<T>(
  url: string,
  work: (deadLetters: DeadLetters) => Promise<T>,
): Promise<T> {
  const { DeadLetters } = await import('../dead-letters/dead-letters.js');
  const deadLetters = await DeadLetters.connect(url);
  try {
    return await work(deadLetters);
  } finally {
    await deadLetters.close();
  }
}
