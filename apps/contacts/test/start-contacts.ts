import type { EventType } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { inTenantConnection } from '@plinth/runtime/postgres';
import type { TestClient } from '@plinth/testing/http';
import { startReplica, type ReplicaOptions } from '@plinth/testing/start-replica';
import { createApp } from '../src/app';
import { compose } from '../src/compose';
import { ContactsConfig } from '../src/config';

const parts = { name: 'contacts', schema: ContactsConfig, compose, createApp };

/** Starts one replica of the service on real stores; close it when done. */
export const startContacts = (options: ReplicaOptions = {}) => startReplica(parts, options);

export type Contacts = Awaited<ReturnType<typeof startContacts>>;

/** A company that is there, with only what must be said unless told otherwise. */
export async function aCompany(http: TestClient, fields: object = {}) {
  const request = {
    externalId: newId(),
    name: 'Analytical Engines',
    kind: 'Customer',
    isActive: true,
    ...fields,
  };
  return (await http.post('/companies', request)).body;
}

/** A contact that is there, with only what must be said unless told otherwise. */
export async function aContact(http: TestClient, fields: object = {}) {
  const request = { externalId: newId(), lastName: 'Lovelace', channel: 'Email', ...fields };
  return (await http.post('/contacts', request)).body;
}

/** What was told of a kind, oldest first. */
export const factsOf = ({ pool }: Contacts, tenantId: string, { name }: EventType) =>
  inTenantConnection(pool, tenantId, async (connection) => {
    const { rows } = await connection.query<{ payload: Record<string, unknown>; actor_name: string }>(
      'SELECT payload, actor_name FROM outbox WHERE tenant_id = $1 AND name = $2 ORDER BY sequence',
      [tenantId, name],
    );
    return rows;
  });
