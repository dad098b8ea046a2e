-- Unread notifications in the order of their list, so that a page of them is read and not all of a person (ADR 0022).
DROP INDEX notification_unread;
CREATE INDEX notification_unread ON notification (tenant_id, user_id, created_at DESC, id DESC) WHERE read_at IS NULL;
