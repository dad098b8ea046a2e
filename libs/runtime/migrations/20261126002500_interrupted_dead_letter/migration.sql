-- Whether the event failed as it was tried, instead of ending its process: whoever gets it next tries it again
-- (libs/runtime/src/messaging/event-processor.ts). A version before takes it for one that ends processes, as it did.
ALTER TABLE dead_letter ADD COLUMN is_interrupted boolean NOT NULL DEFAULT false;
