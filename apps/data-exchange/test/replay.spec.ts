import { join } from 'node:path';
import {
  bundleWorkflows,
  keptHistories,
  recordHistories,
  replayHistory,
  type Story,
} from '@plinth/testing/workflow-histories';
import { ApplicationFailure } from '@temporalio/common';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { ImportCut, ImportWay } from '../src/jobs/plan-import';
import * as workflows from '../src/temporal/workflows/index';
import { shortQueueOf } from '../src/temporal/workflows/task-queues';

const histories = join(__dirname, 'histories');
const args = ['0198d1f0-0000-7000-8000-000000000001', '0198d1f0-0000-7000-8000-000000000002'];
const works = async () => undefined;
/** A failure without its stack, which would tell of the machine that recorded it. */
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
/** Is done in the third turn. */
const takesTurns = () => {
  let turns = 0;
  return async () => ++turns === 3;
};

/** An import that is worked off in this way, by activities that do nothing. */
const anImport = (way: ImportWay, activities: object = {}, cut?: ImportCut): Story => ({
  workflow: 'executeImport',
  args,
  furtherQueues: [shortQueueOf('')],
  activities: {
    planImport: async () => way,
    cutFile: async () => cut,
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
  'execute-export.completes': { workflow: 'executeExport', args, activities: { runExport: works } },
  'execute-export.fails': {
    workflow: 'executeExport',
    args,
    activities: { runExport: fails, failExport: works },
  },
  'undo-import.in-turns': { workflow: 'undoImport', args, activities: { undoImport: takesTurns() } },
  'undo-import.tries-again': { workflow: 'undoImport', args, activities: { undoImport: worksAtLast() } },
  'undo-import.fails': { workflow: 'undoImport', args, activities: { undoImport: fails, failUndo: works } },
};

describe('workflows that an earlier version began', () => {
  let bundle: Awaited<ReturnType<typeof bundleWorkflows>>;
  beforeAll(async () => {
    Runtime.install({
      logger: new DefaultLogger('ERROR'),
      telemetryOptions: { logging: { filter: 'temporalio_sdk_core=off' } },
    });
    bundle = await bundleWorkflows(join(__dirname, '../src/temporal/workflows/index.ts'));
    await recordHistories(histories, stories, bundle);
  });

  it('are all on record', () => {
    const told = Object.values(stories).map(({ workflow }) => workflow);
    expect(Object.keys(workflows).filter((name) => !told.includes(name))).toEqual([]);
    expect(keptHistories(histories).toSorted()).toEqual(Object.keys(stories).toSorted());
  });

  it.each(Object.keys(stories))('go on as they began: %s', async (name) => {
    await replayHistory(histories, name, bundle);
  });

  it('would be noticed to go on differently', async () => {
    const changed = await bundleWorkflows(join(__dirname, 'changed-workflows.ts'));
    await expect(replayHistory(histories, 'execute-import.at-once', changed)).rejects.toThrow(
      /[Nn]ondeterminism/,
    );
  });
});
