import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@plinth/kernel/uuid';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { infrastructure } from './infrastructure';

/** One way through a workflow, with activities that answer what leads there. */
export interface Story {
  workflow: string;
  args: unknown[];
  activities: object;
  /** Where its activities are worked off beside its own task queue: what follows the name of that. */
  furtherQueues?: readonly string[];
  /** What happens to the workflow from outside. */
  meanwhile?: (handle: WorkflowHandle) => Promise<void>;
}

type Bundle = Awaited<ReturnType<typeof bundleWorkflowCode>>;

/** Set by `npm run histories`. */
const isRecording = process.env['PLINTH_RECORD_HISTORIES'] === 'true';

const quiet = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, log() {} };

export const bundleWorkflows = (workflowsPath: string): Promise<Bundle> =>
  bundleWorkflowCode({ workflowsPath, logger: quiet });

/** The stories whose histories are kept in a folder. */
export const keptHistories = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).map((file) => file.replace(/\.bin$/, '')) : [];

/** Tells each story to a real server and keeps its history, when that is what this run is for. */
export async function recordHistories(
  folder: string,
  stories: Record<string, Story>,
  workflowBundle: Bundle,
): Promise<void> {
  if (!isRecording) return;
  mkdirSync(folder, { recursive: true });
  for (const [name, story] of Object.entries(stories)) {
    writeFileSync(join(folder, `${name}.bin`), await record(story, workflowBundle));
  }
}

/**
 * Runs workflows of now through a history of then.
 * @throws DeterminismViolationError when they would not do the same again.
 */
export async function replayHistory(folder: string, name: string, workflowBundle: Bundle): Promise<void> {
  // Kept as bytes: histories as JSON are not understood where several copies of the protocol are loaded.
  const recorded = readFileSync(join(folder, `${name}.bin`));
  await Worker.runReplayHistory({ workflowBundle }, temporal.api.history.v1.History.decode(recorded));
}

async function record(
  { workflow, args, activities, furtherQueues = [], meanwhile }: Story,
  workflowBundle: Bundle,
) {
  const address = infrastructure().temporalAddress;
  const connection = await Connection.connect({ address });
  const nativeConnection = await NativeConnection.connect({ address });
  const taskQueue = `histories-${newId()}`;
  try {
    const client = new Client({ connection, identity: 'recorder' });
    const common = { connection: nativeConnection, identity: 'recorder', activities };
    const worker = await Worker.create({ ...common, taskQueue, workflowBundle });
    const others = await Promise.all(
      furtherQueues.map((suffix) => Worker.create({ ...common, taskQueue: `${taskQueue}${suffix}` })),
    );
    const tell = async () => {
      const handle = await client.workflow.start(workflow, { taskQueue, workflowId: newId(), args });
      await meanwhile?.(handle);
      await handle.result();
      return temporal.api.history.v1.History.encode(await handle.fetchHistory()).finish();
    };
    return await [worker, ...others].reduce(
      (inner, one) => () => one.runUntil(inner),
      (): Promise<Uint8Array> => tell(),
    )();
  } finally {
    await nativeConnection.close();
    await connection.close();
  }
}
