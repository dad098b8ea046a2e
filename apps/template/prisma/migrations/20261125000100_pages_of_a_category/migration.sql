-- The templates of a category in the order of their list, so that a page of them is read and not all of the tenant
-- (ADR 0022).
DROP INDEX template_of_category;
CREATE INDEX template_of_category ON template (tenant_id, category_name, last_modified_at DESC, id DESC)
  WHERE category_name IS NOT NULL;
