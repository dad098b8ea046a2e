-- The version of the entity that a request for approval is for, as its owner names it. Null for what no owner binds, and
-- for requests that were made before there was one: those go on.
ALTER TABLE approval ADD COLUMN entity_version text;

CREATE OR REPLACE VIEW open_approval WITH (security_invoker = true) AS
SELECT tenant_id, id, entity_type, entity_id, transition_name, former_state, target_state, requested_by,
  requested_by_name, requested_at, comment, approver_permission, approver_users, needed, remind_at, escalate_at,
  escalate_permission, escalate_users, is_reminded, is_escalated, expires_at,
  ARRAY(SELECT seat FROM approval_vote AS vote
    WHERE vote.tenant_id = approval.tenant_id AND vote.approval_id = approval.id ORDER BY seat) AS seats,
  ARRAY(SELECT voter_id FROM approval_vote AS vote
    WHERE vote.tenant_id = approval.tenant_id AND vote.approval_id = approval.id ORDER BY seat) AS voters,
  entity_version
FROM approval WHERE "end" IS NULL;
