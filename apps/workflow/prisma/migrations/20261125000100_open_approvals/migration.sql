-- Open requests, with who has agreed and from which seats. Lists in each row are looked up by the key of the request,
-- whatever Postgres knows; in a join it may read all votes of the tenant for each request (ADR 0022).
CREATE VIEW open_approval WITH (security_invoker = true) AS
SELECT tenant_id, id, entity_type, entity_id, transition_name, former_state, target_state, requested_by,
  requested_by_name, requested_at, comment, approver_permission, approver_users, needed, remind_at, escalate_at,
  escalate_permission, escalate_users, is_reminded, is_escalated, expires_at,
  ARRAY(SELECT seat FROM approval_vote AS vote
    WHERE vote.tenant_id = approval.tenant_id AND vote.approval_id = approval.id ORDER BY seat) AS seats,
  ARRAY(SELECT voter_id FROM approval_vote AS vote
    WHERE vote.tenant_id = approval.tenant_id AND vote.approval_id = approval.id ORDER BY seat) AS voters
FROM approval WHERE "end" IS NULL;
