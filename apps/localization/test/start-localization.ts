import { startReplica, type ReplicaOptions } from '@plinth/testing/start-replica';
import { createApp } from '../src/app';
import { compose } from '../src/compose';
import { LocalizationConfig } from '../src/config';

const parts = { name: 'localization', schema: LocalizationConfig, compose, createApp };

/** Starts one replica of the service on real stores; close it when done. */
export const startLocalization = (options: ReplicaOptions = {}) => startReplica(parts, options);

export type Localization = Awaited<ReturnType<typeof startLocalization>>;
