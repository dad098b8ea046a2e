-- What is counted instead has the names of entities too.
DROP INDEX long_entry_of_people;
