-- Templates without a category need no place in this index, and no look-up by another column can take it: Postgres read
-- all templates of a tenant in it to find one by its name or id, where it planned a statement while there were few
-- (ADR 0022).
DROP INDEX template_of_category;
CREATE INDEX template_of_category ON template (tenant_id, category_name) WHERE category_name IS NOT NULL;
