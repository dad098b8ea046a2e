import { join } from 'node:path';
import {
  recordedHistories,
  recordHistories,
  replayHistory,
  type Story,
} from '@plinth/testing/workflow-histories';
import { bundleWorkflows, type WorkflowBundle } from '@plinth/testing/workflow-bundle';
import { ApplicationFailure } from '@temporalio/common';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { ImportPlan } from '../src/app/plan-import';
import type { RangePlan } from '../src/app/split-into-ranges';
import * as workflows from '../src/temporal/workflows/index';
import { LOST_PROGRESS, TOO_LONG } from '../src/temporal/workflows/failure-types';
import { shortQueueOf } from '../src/temporal/workflows/task-queues';

const histories = join(__dirname, 'histories');
const args = ['0198d1f0-0000-7000-8000-000000000001', '0198d1f0-0000-7000-8000-000000000002'];
const works = async () => undefined;
/** An error without its stack, which would reveal the machine that recorded it. */
const failing = (isFinal: boolean) =>
  Object.assign(
    ApplicationFailure.create({
      message: 'The file cannot be read.',
      type: 'Problem',
      nonRetryable: isFinal,
    }),
    { stack: '' },
  );
const fails = async () => {
  throw failing(true);
};
/** Works in the third attempt. */
const worksAtLast = () => {
  let attempts = 0;
  return async () => {
    if (++attempts < 3) throw failing(false);
    return true;
  };
};
/** Fails at first, with an error of this type. */
const failsAtFirst = (type: string, result?: unknown) => {
  let attempts = 0;
  return async () => {
    if (attempts++ > 0) return result;
    const failure = ApplicationFailure.nonRetryable('The file has too many rows.', type);
    throw Object.assign(failure, { stack: '' });
  };
};
/** Is done in the third slice. */
const takesSlices = () => {
  let slices = 0;
  return async () => ++slices === 3;
};

/** An import with this plan, whose activities do nothing. */
const anImport = (plan: ImportPlan, activities: object = {}, ranges?: RangePlan): Story => ({
  workflow: 'executeImport',
  args,
  furtherQueues: [shortQueueOf('')],
  activities: {
    planImport: async () => plan,
    cutFile: async () => ranges,
    readKeys: works,
    findDuplicates: works,
    importRange: async () => true,
    importAtOnce: works,
    endImport: works,
    failImport: works,
    ...activities,
  },
});

/** A change of a workflow that runs differently needs `patched()`; one that is meant to begin anew, `npm run histories`. */
const stories: Record<string, Story> = {
  'execute-import.small': anImport({ kind: 'whole', isSmall: true }),
  'execute-import.in-turns': anImport({ kind: 'ranges' }, {}, { count: 3, atOnce: 1, keysFirst: false }),
  'execute-import.keys-first': anImport({ kind: 'ranges' }, {}, { count: 3, atOnce: 2, keysFirst: true }),
  'execute-import.at-once': anImport({ kind: 'at-once', isSmall: false }),
  'execute-import.cancelled': anImport(
    { kind: 'ranges' },
    { importRange: async () => false },
    { count: 3, atOnce: 1, keysFirst: false },
  ),
  'execute-import.tries-again': anImport({ kind: 'at-once', isSmall: true }, { importAtOnce: worksAtLast() }),
  'execute-import.fails': anImport({ kind: 'at-once', isSmall: true }, { importAtOnce: fails }),
  'execute-import.moves-on': anImport(
    { kind: 'whole', isSmall: true },
    { importRange: failsAtFirst(TOO_LONG, true), endImport: works },
  ),
  'execute-import.begins-anew': anImport(
    { kind: 'ranges' },
    {
      readKeys: async () => 2,
      findDuplicates: async () => 1,
      importRange: async () => 2,
      endImport: failsAtFirst(LOST_PROGRESS),
    },
    { count: 3, atOnce: 2, keysFirst: true },
  ),
  'execute-export.completes': { workflow: 'executeExport', args, activities: { runExport: works } },
  'execute-export.fails': {
    workflow: 'executeExport',
    args,
    activities: { runExport: fails, failExport: works },
  },
  'undo-import.in-turns': { workflow: 'undoImport', args, activities: { undoImport: takesSlices() } },
  'undo-import.tries-again': { workflow: 'undoImport', args, activities: { undoImport: worksAtLast() } },
  'undo-import.fails': { workflow: 'undoImport', args, activities: { undoImport: fails, failUndo: works } },
};

describe('workflows that an earlier version started', () => {
  let bundle: WorkflowBundle;
  beforeAll(async () => {
    Runtime.install({
      logger: new DefaultLogger('ERROR'),
      telemetryOptions: { logging: { filter: 'temporalio_sdk_core=off' } },
    });
    bundle = await bundleWorkflows(join(__dirname, '../src/temporal/workflows/index.ts'));
    await recordHistories(histories, stories, bundle);
  });

  it('have a recorded history for each workflow type', () => {
    const recorded = Object.values(stories).map(({ workflow }) => workflow);
    expect(Object.keys(workflows).filter((name) => !recorded.includes(name))).toEqual([]);
    expect(recordedHistories(histories).toSorted()).toEqual(Object.keys(stories).toSorted());
  });

  it.each(Object.keys(stories))('replay without a change: %s', async (name) => {
    await replayHistory(histories, name, bundle);
  });

  it('fail the replay when a workflow has changed', async () => {
    const changed = await bundleWorkflows(join(__dirname, 'changed-workflows.ts'));
    await expect(replayHistory(histories, 'execute-import.at-once', changed)).rejects.toThrow(
      /[Nn]ondeterminism/,
    );
  });
});
