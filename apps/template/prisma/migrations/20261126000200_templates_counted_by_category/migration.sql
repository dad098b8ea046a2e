-- plinth: no transaction
-- The templates of a category, in the order of their list, with what says whether they count: they are counted in the index,
-- and their texts are not read.
CREATE INDEX CONCURRENTLY template_in_category
  ON template (tenant_id, category_name, last_modified_at DESC, id DESC) INCLUDE (is_gone)
  WHERE category_name IS NOT NULL;
