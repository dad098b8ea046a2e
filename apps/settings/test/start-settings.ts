import type { Close } from '@plinth/runtime/process/lifecycle';
import { TEST_KEYS } from '@plinth/testing/http';
import { startReplica, type ReplicaOptions } from '@plinth/testing/start-replica';
import { createApp } from '../src/app';
import { compose } from '../src/compose';
import { SettingsConfig } from '../src/config';

const parts = { name: 'settings', schema: SettingsConfig, compose, createApp };

/** Starts one replica of the service on real stores; close it when done. */
export const startSettings = (options: ReplicaOptions = {}, closers: Close[] = []) =>
  startReplica(
    parts,
    {
      ...options,
      environment: { SETTINGS_ENCRYPTION_KEYS: TEST_KEYS.join(','), ...options.environment },
    },
    closers,
  );

export type Settings = Awaited<ReturnType<typeof startSettings>>;
