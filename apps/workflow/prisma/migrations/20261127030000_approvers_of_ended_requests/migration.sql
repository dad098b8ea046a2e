-- Who might have decided a request is not kept once it has ended, whichever version ends it: nothing reads it then.
CREATE OR REPLACE FUNCTION remove_approvers() RETURNS trigger LANGUAGE plpgsql
  SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  approvers text[] := approvers_of(OLD.approver_users, OLD.approver_permission)
    || approvers_of(OLD.escalate_users, OLD.escalate_permission);
BEGIN
  DELETE FROM approval_approver WHERE tenant_id = NEW.tenant_id AND approver = ANY (approvers)
    AND requested_at = NEW.requested_at AND approval_id = NEW.id;
  RETURN NULL;
END $$;

CREATE FUNCTION forget_approvers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.approver_users := '{}';
  NEW.escalate_users := '{}';
  RETURN NEW;
END $$;

CREATE TRIGGER approval_ending BEFORE UPDATE OF "end" ON approval
  FOR EACH ROW WHEN (NEW."end" IS NOT NULL AND OLD."end" IS NULL) EXECUTE FUNCTION forget_approvers();
