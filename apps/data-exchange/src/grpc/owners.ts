import type { Client } from '@grpc/grpc-js';
import type { Caller } from '@plinth/kernel/caller';
import type { ListRules } from '@plinth/kernel/list-query';
import { unavailable, Problem } from '@plinth/kernel/problem';
import type { Definition__Output } from '@plinth/proto/generated/plinth/exchange/v1/Definition';
import { protoPackages } from '@plinth/proto/packages';
import { sibling, type Sibling } from '@plinth/runtime/grpc';
import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import type { Definition } from '../domain/definition';

const { ExchangeOwner } = protoPackages.exchange.v1;
export type OwnerClient = InstanceType<typeof ExchangeOwner>;
export type Owner = Sibling<OwnerClient>;

const FRESH_MILLISECONDS = 5_000;
const ASK_MILLISECONDS_MAX = 2_000;

/** The services that own exchangeable data, and what they let others export and import. */
export interface Owners {
  /** Everything that can be exchanged now; a service that does not answer counts with what it said last. */
  list(): Promise<Definition[]>;
  /** @throws Problem `overloaded` when a service that might have it has never answered. */
  find(name: string): Promise<Definition | undefined>;
  of(definition: Pick<Definition, 'owner'>): Owner;
  /** From now on takes no batch of a range of a job; answers the last one that counts. */
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
  askedAt: number;
  asking: Promise<void> | undefined;
}

/** Knows every sibling service of the address book; which of them own something, they say themselves. */
export function connectOwners(
  addresses: Record<string, string>,
  callerKeys: readonly string[],
  log: Log,
): Owners {
  const entries = Object.entries(addresses).map(([service, address]): Entry => ({
    service,
    owner: sibling(service, ExchangeOwner, address, callerKeys),
    definitions: undefined,
    askedAt: 0,
    asking: undefined,
  }));

  const ask = async (entry: Entry): Promise<void> => {
    try {
      const options = { deadlineMilliseconds: ASK_MILLISECONDS_MAX };
      const { definitions } = await entry.owner.ask('ListDefinitions', {}, null, options);
      entry.definitions = definitions.map((definition) => readDefinition(definition, entry.service));
      entry.askedAt = Date.now();
    } catch (error) {
      if (error instanceof Problem && error.kind === 'unsupported') {
        entry.definitions = [];
        entry.askedAt = Date.now();
      } else log.warn({ service: entry.service, err: error }, 'a service does not say what it exchanges');
    } finally {
      entry.asking = undefined;
    }
  };

  const refresh = (isFreshEnough: (entry: Entry) => boolean): Promise<unknown> =>
    Promise.all(
      entries.filter((entry) => !isFreshEnough(entry)).map((entry) => (entry.asking ??= ask(entry))),
    );

  const known = (): Definition[] =>
    entries
      .flatMap(({ definitions }) => definitions ?? [])
      .sort((left, right) => (left.name < right.name ? -1 : 1));

  const isFresh = ({ askedAt }: Entry) => Date.now() - askedAt < FRESH_MILLISECONDS;

  const of: Owners['of'] = ({ owner }) => {
    const entry = entries.find(({ service }) => service === owner);
    if (!entry) throw unavailable(`The service ${owner} is not among the services of this installation.`);
    return entry.owner;
  };

  return {
    of,

    async list() {
      await refresh(isFresh);
      return known();
    },

    async find(name) {
      const cached = known().find((definition) => definition.name === name);
      if (cached && isFresh(entries.find(({ service }) => service === cached.owner)!)) return cached;
      await refresh(isFresh);
      const found = known().find((definition) => definition.name === name);
      if (found) return found;
      const silent = entries.filter(({ definitions }) => definitions === undefined);
      if (silent.length > 0) throw unavailable(`Not every area says now what it exchanges; try again.`);
      return undefined;
    },

    async seal(definition, job, caller) {
      return (await of(definition).ask('SealImport', job, caller)).lastBatch;
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
