-- When to look whether an entry refers to the file; empty once one did. Files of before have a day.
ALTER TABLE blob ADD COLUMN check_at timestamptz(3) DEFAULT now() + interval '1 day';
ALTER TABLE blob ALTER COLUMN check_at DROP DEFAULT;
-- Judged unused: nobody can attach it any more, and its content is being removed.
ALTER TABLE blob ADD COLUMN is_removed boolean NOT NULL DEFAULT false;
CREATE INDEX blob_to_check ON blob (check_at) WHERE check_at IS NOT NULL;

-- Whoever removes unused files looks after all tenants.
CREATE POLICY platform ON blob USING (current_setting('plinth.scope', true) = 'platform');
CREATE POLICY platform ON attachment FOR SELECT USING (current_setting('plinth.scope', true) = 'platform');
