-- Whether somebody follows only because they were mentioned, and may not exist. Of those who followed before, and of those
-- whom a version before writes, nothing is known: the directory alone says who of them exists, until they follow again.
ALTER TABLE follower ADD COLUMN by_mention boolean NOT NULL DEFAULT true;
