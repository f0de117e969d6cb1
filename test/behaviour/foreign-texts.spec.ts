import { describe, expect, it } from 'vitest';
import { drop } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { handlerOf } from '../support/handlers';

const FORGED = 'x\n[Nest] 1  - ERROR [Auth] user root logged in\r\u001b[2J\u202e';
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

/** Measures until the returned function is called; it returns the longest pause of the event loop, in ms. */
function watchEventLoop(): () => number {
  let longest = 0;
  let last = performance.now();
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 5);
  return () => {
    clearInterval(timer);
    look();
    return longest;
  };
}

describe('texts of a message', async () => {
  const broker = await openBroker();

  it('do not stop the event loop, however many blanks they have', async () => {
    const queue = unique('blanks');
    const blanks = `${' '.repeat(100_000)}x`;
    const Handler = handlerOf({ queue, deadLetter: `${queue}.dead` }, (payload, { headers }) => {
      throw new Error(`${JSON.stringify(payload)} ${headers['text']}`);
    });
    const app = await startApp({ providers: [Handler] });
    const longestPause = watchEventLoop();
    await broker.send(queue, { text: blanks }, { headers: { text: blanks.slice(0, 50_000) } });
    await broker.send(queue, Buffer.from(`{${blanks}`));
    await app.settled(2);
    expect(longestPause()).toBeLessThan(1_000);
  });

  it('cannot forge a line of the log, nor control a terminal', async () => {
    const queue = unique('forged');
    const Handler = handlerOf({ queue, deadLetter: `${queue}.dead` }, (payload, { headers }) => {
      if (payload === 'drop') return drop(String(headers['text']));
      if (payload === 'object') throw { text: headers['text'] };
      throw Object.assign(new Error(String(headers['text'])), { name: `E${headers['text']}` });
    });
    const app = await startApp({ providers: [Handler] });
    const properties = {
      messageId: FORGED,
      correlationId: FORGED,
      type: FORGED,
      headers: { text: FORGED },
    };
    await broker.send(queue, 'drop', properties);
    await broker.send(queue, 'object', properties);
    await broker.send(queue, 'error', properties);
    await broker.send(queue, Buffer.from(`{"a":${FORGED}`), properties);
    await broker.send(queue, 'x', { ...properties, contentEncoding: FORGED });
    await app.settled(5);
    expect(app.log.matching(/message "x\\u000a/, ['error', 'debug']).length).toBeGreaterThan(4);
    for (const { text, rest } of app.log.lines) {
      expect(text).not.toMatch(CONTROL);
      const stack = rest.length > 1 ? String(rest[0]) : '';
      for (const line of stack.split('\n').slice(1)) expect(line).toMatch(/^ {4}/);
      expect(stack.replaceAll('\n', '')).not.toMatch(CONTROL);
    }
  });

  it('stay as they are in the headers of a dead letter', async () => {
    const queue = unique('dead-letter-texts');
    const error = Object.assign(new Error(FORGED), { name: `E${FORGED}` });
    const Handler = handlerOf({ queue, deadLetter: { queue: `${queue}.dead`, stack: true } }, () =>
      Promise.reject(error),
    );
    await startApp({ providers: [Handler] });
    await broker.send(queue, {}, { messageId: FORGED, headers: { text: FORGED } });
    const { properties } = await broker.take(`${queue}.dead`);
    expect(properties.messageId).toBe(FORGED);
    expect(properties.headers).toMatchObject({
      text: FORGED,
      'x-settle-error-name': `E${FORGED}`,
      'x-settle-error-message': FORGED,
      'x-settle-error-stack': expect.stringContaining(FORGED),
    });
  });
});
