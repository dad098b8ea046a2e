import { join } from 'node:path';
import {
  recordedHistories,
  recordHistories,
  replayHistory,
  type Story,
} from '@plinth/testing/workflow-histories';
import { bundleWorkflows, type WorkflowBundle } from '@plinth/testing/workflow-bundle';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import * as workflows from '../src/temporal/workflows/index';

const histories = join(__dirname, 'histories');
const args = ['0198d1f0-0000-7000-8000-000000000001', '0198d1f0-0000-7000-8000-000000000002'];
const activitiesReturning = (waits: (number | null)[]) => ({
  takeDueSteps: async () => waits.shift() ?? null,
});

/** A change of a workflow that runs differently needs `patched()`; one that is meant to begin anew, `npm run histories`. */
const stories: Record<string, Story> = {
  'await-approval.wakes-twice': {
    workflow: 'awaitApproval',
    args,
    activities: activitiesReturning([10, 10]),
  },
};

describe('recorded histories of approval timers', () => {
  let bundle: WorkflowBundle;
  beforeAll(async () => {
    Runtime.install({
      logger: new DefaultLogger('ERROR'),
      telemetryOptions: { logging: { filter: 'temporalio_sdk_core=off' } },
    });
    bundle = await bundleWorkflows(join(__dirname, '../src/temporal/workflows/index.ts'));
    await recordHistories(histories, stories, bundle);
  });

  it('exist for every workflow', () => {
    const recorded = Object.values(stories).map(({ workflow }) => workflow);
    const kinds = Object.entries(workflows).filter(([, value]) => typeof value === 'function');
    expect(kinds.map(([name]) => name).filter((name) => !recorded.includes(name))).toEqual([]);
    expect(recordedHistories(histories).toSorted()).toEqual(Object.keys(stories).toSorted());
  });

  it.each(Object.keys(stories))('replay unchanged: %s', async (name) => {
    await replayHistory(histories, name, bundle);
  });
});
