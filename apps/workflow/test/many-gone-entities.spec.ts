import { newId } from '@plinth/kernel/uuid';
import { Client } from 'pg';
import { requireVerification } from '../src/store/request-verification';
import { goneOf } from './entity-owner-stub';
import { startWorkflow, type Workflow } from './start-workflow';

/** In a tenant that the statistics of the database do not know yet. */
const OPEN_REQUESTS = 100_000;
/** A batch of an import that is undone has up to twice as many. */
const GONE_TOGETHER = 2_000;

describe('thousands of entities that are gone at once', () => {
  let service: Workflow;
  let admin: Client;
  beforeAll(async () => {
    service = await startWorkflow();
    admin = new Client({ connectionString: service.database!.adminUrl });
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    await service.close();
  });

  it('have their requests verified, however many more are open, some of them at a time', async () => {
    const tenantId = newId();
    await admin.query(
      `INSERT INTO approval (tenant_id, id, entity_type, entity_id, transition_name, former_state, target_state,
         requested_by, requested_by_name, requested_at, approver_users, needed, escalate_users, is_reminded, is_escalated)
       SELECT $1, gen_random_uuid(), 'Contact', n::text, 'Approve', 'Submitted', 'Approved', 'ada', 'Ada', now(), '{}', 1,
         '{}', false, false FROM generate_series(1, $2::int) AS n`,
      [tenantId, OPEN_REQUESTS],
    );
    await admin.query(
      `INSERT INTO entity (tenant_id, entity_type, entity_id, state, revision, moves, changed_at, approval_id)
       SELECT tenant_id, entity_type, entity_id, 'Submitted', 1, 1, now(), id FROM approval WHERE tenant_id = $1`,
      [tenantId],
    );
    const entityIds = Array.from({ length: GONE_TOGETHER }, (_, index) => String(index + 1));
    const event = { ...goneOf(tenantId), payload: { entityType: 'Contact', entityIds } };

    await service.db.inTenant(tenantId, (tx) => requireVerification(tx, event));

    const { rows } = await admin.query(
      `SELECT entity_id AS id FROM approval WHERE tenant_id = $1 AND verify_at IS NOT NULL`,
      [tenantId],
    );
    expect(rows.map(({ id }) => id).toSorted()).toEqual(entityIds.toSorted());

    const now = new Date(Date.now() + 60_000);
    const claim = { until: new Date(now.getTime() + 60_000), without: [], limit: 20 };
    expect(await service.approvals.claimVerifications(tenantId, now, claim)).toHaveLength(20);
  });
});
