import { connect } from 'amqplib';
import { describe, expect, it } from 'vitest';
import { url } from '../support/broker';
import { versionAt } from '../support/server/amqp-version.mjs';
import { describeOn, itOn, serverIs, serverVersion } from '../support/versions';

const asked = process.env['RABBITMQ_TEST_VERSION'];
const ran: string[] = [];

describe('the server of this run', () => {
  it('has the version that the run expects', async () => {
    const model = await connect(url);
    expect(model.connection.serverProperties['version']).toBe(serverVersion);
    await model.close();
    expect(await versionAt(url)).toBe(serverVersion);
  });

  it.runIf(asked)('is the requested release', () => {
    expect(serverVersion.slice(0, serverVersion.lastIndexOf('.'))).toBe(asked);
  });
});

describe('a test for some versions', () => {
  const because = 'one of the two is to run';
  itOn({ from: '4.3', because })('runs', () => void ran.push('it from 4.3'));
  itOn({ before: '4.3', because })('runs', () => void ran.push('it before 4.3'));
  describeOn({ from: '4.3', because })('in a group', () => {
    it('runs', () => void ran.push('group from 4.3'));
  });
  describeOn({ before: '4.3', because })('in a group', () => {
    it('runs', () => void ran.push('group before 4.3'));
  });

  it('runs only where it applies', () => {
    const range = serverIs({ from: '4.3' }) ? 'from 4.3' : 'before 4.3';
    expect(ran).toEqual([`it ${range}`, `group ${range}`]);
  });
});
