import type { EventType } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { inTenantConnection } from '@plinth/runtime/postgres/postgres';
import type { TestClient } from '@plinth/testing/http';
import { startReplica, type ReplicaOptions } from '@plinth/testing/start-replica';
import { createApp } from '../src/app';
import { compose } from '../src/compose';
import { ContactsConfig } from '../src/config';

const parts = { name: 'contacts', schema: ContactsConfig, compose, createApp };

/** Starts one replica of the service on real stores; close it when done. */
export const startContacts = (options: ReplicaOptions = {}) => startReplica(parts, options);

export type Contacts = Awaited<ReturnType<typeof startContacts>>;

/** Creates a company, with only the required fields unless others are given. */
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

/** Creates a contact, with only the required fields unless others are given. */
export async function aContact(http: TestClient, fields: object = {}) {
  const request = { externalId: newId(), lastName: 'Lovelace', channel: 'Email', ...fields };
  return (await http.post('/contacts', request)).body;
}

/** The events of one type in the outbox, oldest first. */
export const eventsOf = ({ pool }: Contacts, tenantId: string, { name }: EventType) =>
  inTenantConnection(pool, tenantId, async (connection) => {
    const { rows } = await connection.query<{ payload: Record<string, unknown>; actor_name: string }>(
      'SELECT payload, actor_name FROM outbox WHERE tenant_id = $1 AND name = $2 ORDER BY sequence',
      [tenantId, name],
    );
    return rows;
  });
