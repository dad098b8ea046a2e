import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@plinth/kernel/uuid';
import { Client, Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { NativeConnection, Worker } from '@temporalio/worker';
import { infrastructure } from './infrastructure';
import type { WorkflowBundle } from './workflow-bundle';

/** One path through a workflow, with activities whose results lead there. */
export interface Story {
  workflow: string;
  args: unknown[];
  activities: object;
  /** Suffixes of further task queues on which its activities run, besides its own task queue. */
  furtherQueues?: readonly string[];
}

/** Set by `npm run histories`. */
const isRecording = process.env['PLINTH_RECORD_HISTORIES'] === 'true';

/** The stories whose histories are recorded in a folder. */
export const recordedHistories = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).map((file) => file.replace(/\.bin$/, '')) : [];

/** Runs each story on a real server and records its history, where this run is for recording. */
export async function recordHistories(
  folder: string,
  stories: Record<string, Story>,
  workflowBundle: WorkflowBundle,
): Promise<void> {
  if (!isRecording) return;
  mkdirSync(folder, { recursive: true });
  for (const [name, story] of Object.entries(stories)) {
    writeFileSync(join(folder, `${name}.bin`), await record(story, workflowBundle));
  }
}

/**
 * Replays a recorded history with the current workflows.
 * @throws DeterminismViolationError when they would not do the same again.
 */
export async function replayHistory(
  folder: string,
  name: string,
  workflowBundle: WorkflowBundle,
): Promise<void> {
  // Stored as bytes: histories as JSON cannot be decoded where several copies of the protocol are loaded.
  const recorded = readFileSync(join(folder, `${name}.bin`));
  await Worker.runReplayHistory({ workflowBundle }, temporal.api.history.v1.History.decode(recorded));
}

async function record(
  { workflow, args, activities, furtherQueues = [] }: Story,
  workflowBundle: WorkflowBundle,
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
    const runStory = async () => {
      const handle = await client.workflow.start(workflow, { taskQueue, workflowId: newId(), args });
      await handle.result();
      // Of a workflow that began anew the run that did.
      const first = client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId);
      return temporal.api.history.v1.History.encode(await first.fetchHistory()).finish();
    };
    return await [worker, ...others].reduce(
      (inner, one) => () => one.runUntil(inner),
      (): Promise<Uint8Array> => runStory(),
    )();
  } finally {
    await nativeConnection.close();
    await connection.close();
  }
}
