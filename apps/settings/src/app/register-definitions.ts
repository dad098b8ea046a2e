import { backgroundTask } from '@plinth/runtime/process/background-task';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import { problemOfDatabase } from '@plinth/runtime/postgres/postgres';

const RETRY_MILLISECONDS = 1_000;

interface Registration {
  close: Close;
  /** What the process is not ready without: a registration that was put off. */
  checks: Record<string, () => Promise<void>>;
}

/**
 * Registers the settings of the platform: at once, or where the database is away as soon as it is back. A process that
 * ended instead would be started again later and later, and be missing for minutes after that.
 */
export async function registerDefinitions(register: () => Promise<void>, log: Log): Promise<Registration> {
  try {
    await register();
    return { close: () => undefined, checks: {} };
  } catch (error) {
    if (!problemOfDatabase(error)) throw error;
    log.warn({ err: error }, 'the database is away; the settings of the platform are registered later');
  }
  let isRegistered = false;
  const task = backgroundTask(
    async () => {
      await register();
      isRegistered = true;
      void task.close();
    },
    { name: 'registration of settings', intervalMilliseconds: RETRY_MILLISECONDS, log },
  );
  const check = async (): Promise<void> => {
    if (!isRegistered) throw new Error('The settings of the platform are not registered yet.');
  };
  return { close: task.close, checks: { definitions: check } };
}
