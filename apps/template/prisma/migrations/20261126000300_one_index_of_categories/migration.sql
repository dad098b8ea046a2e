-- The index before it has the same rows in the same order.
DROP INDEX template_of_category;
