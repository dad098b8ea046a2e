-- Up to which time events were asked for again on behalf of a new subscription (libs/runtime/src/messaging/outbox.ts);
-- empty where all were, also by a version before, which does so at once.
ALTER TABLE event_subscription ADD COLUMN rechecked_to timestamptz;
