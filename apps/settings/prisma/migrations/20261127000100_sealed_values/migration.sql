-- Whether the values of a setting are sealed: those of a secret are from its registration on, and stay so. Versions before
-- know nothing of it, so whatever they register changes nothing of it.
ALTER TABLE setting_definition ADD COLUMN is_sealed boolean NOT NULL DEFAULT false;

-- A setting that becomes secret has values in many tenants, which are sealed together.
CREATE POLICY platform ON setting_value USING (current_setting('plinth.scope', true) = 'platform');
CREATE POLICY platform ON setting_change USING (current_setting('plinth.scope', true) = 'platform');
