SET lock_timeout = '2s';

-- The sweep of old operations belongs to no tenant.
CREATE POLICY platform ON operation USING (current_setting('plinth.scope', true) = 'platform');
