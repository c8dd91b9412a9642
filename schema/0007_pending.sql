-- Commits that SQLite keeps in one row each until many of them are written to the tables together (decisions/0058).
-- Rows are written over and over; one whose number is not above that of the tables is of a commit that is in them.

CREATE TABLE pending (
    place INTEGER PRIMARY KEY,
    number BIGINT NOT NULL,
    changes BLOB NOT NULL,
    checksum BIGINT NOT NULL
);
