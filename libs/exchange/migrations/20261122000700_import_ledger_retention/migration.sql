-- What is too old is found in all tenants at once. An index that begins with the tenant would not help there, and
-- without statistics of a tenant it would be taken instead of the primary key.
DROP INDEX exchange_job_age;
CREATE INDEX exchange_job_changed ON exchange_job (changed_at);
-- Rows come in the order of their time, so a few bytes for each range of pages suffice.
CREATE INDEX exchange_former_kept ON exchange_former USING brin (kept_at);
