-- Who may decide an open request: users, holders of a permission, and `*` for those who hold all, in the order in which the
-- requests were made. A page of what waits for somebody reads what it shows, however many others wait for other people.
CREATE TABLE approval_approver (
  tenant_id uuid NOT NULL,
  approver text NOT NULL,
  requested_at timestamptz(3) NOT NULL,
  approval_id uuid NOT NULL,
  requested_by text NOT NULL,
  needed integer NOT NULL,
  PRIMARY KEY (tenant_id, approver, requested_at, approval_id) INCLUDE (requested_by, needed)
);

CREATE FUNCTION approvers_of(users text[], permission text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  approvers text[] := CASE WHEN permission IS NULL THEN '{}' ELSE ARRAY['permission:' || permission, '*'] END;
  name text;
BEGIN
  FOREACH name IN ARRAY users LOOP
    approvers := approvers || ('user:' || name);
  END LOOP;
  RETURN approvers;
END $$;

-- Those whom a request escalates to are added when it does.
CREATE FUNCTION list_approvers() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  approvers text[] := approvers_of(NEW.approver_users, NEW.approver_permission);
BEGIN
  IF NEW.is_escalated THEN
    approvers := approvers || approvers_of(NEW.escalate_users, NEW.escalate_permission);
  END IF;
  INSERT INTO approval_approver (tenant_id, approver, requested_at, approval_id, requested_by, needed)
  SELECT NEW.tenant_id, approver, NEW.requested_at, NEW.id, NEW.requested_by, NEW.needed
  FROM unnest(approvers) AS approver ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

-- The table has one index, by which its rows are found whatever was planned while it had few.
CREATE FUNCTION remove_approvers() RETURNS trigger LANGUAGE plpgsql
  SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  approvers text[] := approvers_of(NEW.approver_users, NEW.approver_permission)
    || approvers_of(NEW.escalate_users, NEW.escalate_permission);
BEGIN
  DELETE FROM approval_approver WHERE tenant_id = NEW.tenant_id AND approver = ANY (approvers)
    AND requested_at = NEW.requested_at AND approval_id = NEW.id;
  RETURN NULL;
END $$;

CREATE TRIGGER approval_opened AFTER INSERT ON approval
  FOR EACH ROW WHEN (NEW."end" IS NULL) EXECUTE FUNCTION list_approvers();
CREATE TRIGGER approval_escalated AFTER UPDATE OF is_escalated ON approval
  FOR EACH ROW WHEN (NEW.is_escalated AND NOT OLD.is_escalated AND NEW."end" IS NULL) EXECUTE FUNCTION list_approvers();
CREATE TRIGGER approval_ended AFTER UPDATE OF "end" ON approval
  FOR EACH ROW WHEN (NEW."end" IS NOT NULL AND OLD."end" IS NULL) EXECUTE FUNCTION remove_approvers();

SELECT set_config('plinth.scope', 'platform', true);
INSERT INTO approval_approver (tenant_id, approver, requested_at, approval_id, requested_by, needed)
SELECT tenant_id, approver, requested_at, id, requested_by, needed
FROM approval, unnest(approvers_of(approver_users, approver_permission)
  || CASE WHEN is_escalated THEN approvers_of(escalate_users, escalate_permission) ELSE '{}' END) AS approver
WHERE "end" IS NULL
ON CONFLICT DO NOTHING;
SELECT set_config('plinth.scope', '', true);

ALTER TABLE approval_approver ENABLE ROW LEVEL SECURITY;
ALTER TABLE approval_approver FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON approval_approver
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
