import type { Client } from '@grpc/grpc-js';
import type { Caller } from '@plinth/kernel/caller';
import type { ListRules } from '@plinth/kernel/list-query';
import { unavailable, Problem } from '@plinth/kernel/problem';
import type { Definition__Output } from '@plinth/proto/generated/plinth/exchange/v1/Definition';
import { protoPackages } from '@plinth/proto/packages';
import { serviceClient, type ServiceClient } from '@plinth/runtime/rpc/grpc';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import type { Registry } from 'prom-client';
import type { Definition } from '../domain/definition';

const { ExchangeOwner } = protoPackages.exchange.v1;
export type OwnerClient = InstanceType<typeof ExchangeOwner>;
export type Owner = ServiceClient<OwnerClient>;

const FRESH_MILLISECONDS = 5_000;
const LIST_MILLISECONDS_MAX = 2_000;

/** The services that own data, and the definitions of what can be exported and imported. */
export interface Owners {
  /** All definitions; of a service that does not respond those that it listed last. */
  list(): Promise<Definition[]>;
  /** @throws Problem `overloaded` when a service that may have it has never responded. */
  find(name: string): Promise<Definition | undefined>;
  clientOf(definition: Pick<Definition, 'owner'>): Owner;
  /** Makes the owner reject all further batches of a range; returns the number of the last one that was applied. */
  seal(
    definition: Pick<Definition, 'owner'>,
    job: { jobId: string; range: number },
    caller: Caller,
  ): Promise<number>;
  close: Close;
}

interface Entry {
  service: string;
  owner: Owner;
  definitions: Definition[] | undefined;
  listedAt: number;
  listing: Promise<void> | undefined;
}

/** Connects to every service; those that own data list their definitions. */
export function connectOwners(
  addresses: Record<string, string>,
  callerKeys: readonly string[],
  log: Log,
  metrics?: Registry,
): Owners {
  const entries = Object.entries(addresses).map(([service, address]): Entry => ({
    service,
    owner: serviceClient(service, ExchangeOwner, address, callerKeys, metrics),
    definitions: undefined,
    listedAt: -Infinity,
    listing: undefined,
  }));

  const listDefinitions = async (entry: Entry): Promise<void> => {
    try {
      const options = { deadlineMilliseconds: LIST_MILLISECONDS_MAX };
      const { definitions } = await entry.owner.call('ListDefinitions', {}, null, options);
      entry.definitions = definitions.map((definition) => readDefinition(definition, entry.service));
      entry.listedAt = performance.now();
    } catch (error) {
      if (error instanceof Problem && error.kind === 'unsupported') {
        entry.definitions = [];
        entry.listedAt = performance.now();
      } else
        log.warn({ service: entry.service, err: error }, 'the definitions of a service could not be listed');
    } finally {
      entry.listing = undefined;
    }
  };

  const isFresh = ({ listedAt }: Entry) => performance.now() - listedAt < FRESH_MILLISECONDS;

  const refresh = (listed: readonly Entry[]): Promise<unknown> =>
    Promise.all(
      listed.filter((entry) => !isFresh(entry)).map((entry) => (entry.listing ??= listDefinitions(entry))),
    );

  const cached = (): Definition[] =>
    entries
      .flatMap(({ definitions }) => definitions ?? [])
      .sort((left, right) => (left.name < right.name ? -1 : 1));

  const clientOf: Owners['clientOf'] = ({ owner }) => {
    const entry = entries.find(({ service }) => service === owner);
    if (!entry) throw unavailable(`The service ${owner} is not part of this installation.`);
    return entry.owner;
  };

  return {
    clientOf,

    async list() {
      await refresh(entries);
      return cached();
    },

    async find(name) {
      const findCached = () => cached().find((definition) => definition.name === name);
      // Who waits for its owner need not wait for a service that has nothing to do with it.
      const owner = findCached()?.owner;
      await refresh(entries.filter(({ service }) => service === owner));
      const known = findCached();
      if (known) return known;
      await refresh(entries);
      const found = findCached();
      if (found) return found;
      const unlisted = entries.filter(({ definitions }) => definitions === undefined);
      if (unlisted.length > 0)
        throw unavailable(
          'Some services are unavailable, so the list of definitions may be incomplete; try again.',
        );
      return undefined;
    },

    async seal(definition, job, caller) {
      return (await clientOf(definition).call('SealImport', job, caller)).lastBatch;
    },

    close: () => {
      for (const { owner } of entries) (owner.client as Client).close();
    },
  };
}

const readDefinition = (
  { listRules, fields, widerPermission, ...definition }: Definition__Output,
  owner: string,
): Definition => ({
  ...definition,
  widerPermission: widerPermission || null,
  fields,
  listRules: JSON.parse(listRules) as ListRules,
  owner,
});
