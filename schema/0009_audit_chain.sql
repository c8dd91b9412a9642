-- The audit is a chain (decisions/0076): each line has a place and a hash over itself and over the hash of the line before
-- it. Lines of before, and those of a release that knows no chain, have place 0 and no hash. `more_checksum` is of what this
-- adds to a line; 0: such a release has written it.

ALTER TABLE audit ADD COLUMN project TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN zone TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN service TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN result TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN position BIGINT NOT NULL DEFAULT 0;
ALTER TABLE audit ADD COLUMN previous TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN hash TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN more_checksum BIGINT NOT NULL DEFAULT 0;

-- 'head': the last line that was written; 'base': the last one that was taken out. No row: there is none.
CREATE TABLE audit_chain (
    name TEXT NOT NULL PRIMARY KEY,
    position BIGINT NOT NULL,
    hash TEXT NOT NULL,
    checksum BIGINT NOT NULL
);

-- What the authority has signed: how far the chain was.
CREATE TABLE audit_seals (
    position BIGINT NOT NULL PRIMARY KEY,
    hash TEXT NOT NULL,
    time BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    authority TEXT NOT NULL,
    certificate BLOB NOT NULL,
    signature TEXT NOT NULL,
    checksum BIGINT NOT NULL
);
