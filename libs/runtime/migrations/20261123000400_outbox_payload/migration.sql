-- Large events are lists of ids, which hardly become smaller: trying to compress them took most of the time that writing
-- them takes.
ALTER TABLE outbox ALTER payload SET STORAGE EXTERNAL;
