import { describe, it } from 'vitest';
import { useCompiledFixtures } from '../support/process/compiled';
import { closeConnections, cut, kill, terminate } from './harness/faults';
import { scenario } from './harness/scenario';

describe.each(['classic', 'quorum'] as const)('on a %s queue, nothing is lost', (queueType) => {
  const fixtures = useCompiledFixtures();
  const base = () => ({ path: fixtures.pathOf('mixed-load'), queueType });

  it('when services are killed', async () => {
    await scenario({ name: 'kill', ...base(), faults: [kill], times: 2 });
  });

  it('when services are terminated', async () => {
    await scenario({ name: 'terminate', ...base(), faults: [terminate] });
  });

  it('when the server closes connections, or they are cut', async () => {
    await scenario({ name: 'cut', ...base(), faults: [closeConnections, cut], times: 2 });
  });
});
