// @ts-check
import { describe, expect, it } from 'vitest';
import { mirrorAmong } from '../../server/apt-mirror.mjs';
import { isOf, releases, suiteOf, takeReleases } from '../../server/releases.mjs';
import { countTests } from '../../server/test-report.mjs';

describe('releases', () => {
  it('are three, each in a Debian release', () => {
    expect(releases.map((release) => [release, suiteOf(release)])).toEqual([
      ['3.10', 'bookworm'],
      ['4.0', 'trixie'],
      ['4.3', 'forky'],
    ]);
  });

  it.each(
    /** @type {const} */ ([
      ['4.3.6', '4.3', true],
      ['4.30.0', '4.3', false],
      ['4.0.5', '4.3', false],
      ['14.3.0', '4.3', false],
      [undefined, '4.3', false],
    ]),
  )('%s is of %s: %s', (version, release, expected) => {
    expect(isOf(version, release)).toBe(expected);
  });
});

describe('the releases on a command line', () => {
  it('can be named several times or with commas, and other words are kept', () => {
    const words = [
      '--rabbitmq=3.10,4.3',
      'a.spec.ts',
      '--rabbitmq=4.0',
      '--rabbitmq=4.3',
      '-t',
      'x',
    ];
    expect(takeReleases(words)).toEqual({
      asked: ['3.10', '4.3', '4.0'],
      rest: ['a.spec.ts', '-t', 'x'],
    });
    expect(takeReleases(['a.spec.ts'])).toEqual({ asked: [], rest: ['a.spec.ts'] });
  });

  it.each([
    ['--rabbitmq', '--rabbitmq needs a release: --rabbitmq=3.10,4.0,4.3'],
    ['--rabbitmq=', 'tests know RabbitMQ 3.10, 4.0, 4.3, not ""'],
    ['--rabbitmq=4', 'tests know RabbitMQ 3.10, 4.0, 4.3, not "4"'],
  ])('%s is rejected', (word, message) => {
    expect(() => takeReleases([word])).toThrow(message);
  });
});

describe("the machine's own mirror", () => {
  const updated = `bookworm-security main http://security.example/debian-security/ Debian
bookworm main http://other.example/apt/ Other
bookworm-updates main http://mirror.example/debian/ Debian
bookworm contrib http://mirror.example/debian/ Debian
bookworm main http://mirror.example/debian/ Debian
`;

  it('is the main one of Debian', () => {
    expect(mirrorAmong(updated, 'bookworm')).toBe('http://mirror.example/debian/');
  });

  it('is recognised by its address before apt update', () => {
    expect(mirrorAmong(updated.replaceAll(' Debian', ' '), 'bookworm')).toBe(
      'http://mirror.example/debian/',
    );
  });

  it('can be named after a rolling release', () => {
    expect(mirrorAmong('testing main https://m.example/debian/ Debian', undefined)).toBe(
      'https://m.example/debian/',
    );
  });

  it.each([
    '',
    'bookworm main file:/srv/debian/ Debian',
    'bookworm main http://other.example/ Other',
  ])('is not recognised in "%s"', (targets) =>
    expect(mirrorAmong(targets, 'bookworm')).toBeUndefined(),
  );
});

describe("vitest's report", () => {
  it('is counted, with the names of skipped tests', () => {
    const assertionResults = [
      { status: 'passed', fullName: 'a' },
      { status: 'failed', fullName: 'b' },
      { status: 'skipped', fullName: 'c (RabbitMQ from 4.3 on: why)' },
      { status: 'passed', fullName: 'd' },
    ];
    expect(countTests(JSON.stringify({ testResults: [{ assertionResults }] }))).toEqual({
      passed: 2,
      failed: 1,
      skipped: ['c (RabbitMQ from 4.3 on: why)'],
    });
    expect(countTests(undefined)).toBeUndefined();
  });
});
