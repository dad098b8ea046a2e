-- What the platform said when the tenant chose its own words; null where it said nothing, or it is not known.
ALTER TABLE override ADD COLUMN replaced_value text;
-- The keys of a tenant in their order, whatever the culture.
CREATE INDEX override_of_key ON override (tenant_id, resource_name, key);
