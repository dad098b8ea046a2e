-- What is counted instead has the names of entities too.
DROP INDEX move_with_long_comment, approval_with_long_comment;
