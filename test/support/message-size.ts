import { onTestFinished } from 'vitest';
import { management } from './broker';
import { serverIs } from './versions';

/** Sets the size of the largest message that the server accepts; its own default after the test. */
export async function limitMessageSize(bytes: number): Promise<void> {
  const set = (size: number): Promise<string> =>
    management.ctl(
      'eval',
      `application:set_env(rabbit, max_message_size, ${size}), persistent_term:put(max_message_size, ${size}).`,
    );
  onTestFinished(async () => {
    await set((serverIs({ before: '4.0' }) ? 128 : 16) * 1024 * 1024);
  });
  await set(bytes);
}
