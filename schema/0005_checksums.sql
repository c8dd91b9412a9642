-- Each row says what its contents are to be, so that bytes that changed on the disk are noticed (decisions/0053).
-- `checked` is the version that `checksum` is of: a release that knows neither leaves both as they were, and what it
-- wrote counts as unchecked. Lines of logs are written once; 0: nobody has made a checksum.

ALTER TABLE objects ADD COLUMN checksum BIGINT NOT NULL DEFAULT 0;
ALTER TABLE objects ADD COLUMN checked BIGINT NOT NULL DEFAULT 0;
ALTER TABLE commands ADD COLUMN checksum BIGINT NOT NULL DEFAULT 0;
ALTER TABLE commands ADD COLUMN checked BIGINT NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN checksum BIGINT NOT NULL DEFAULT 0;
ALTER TABLE ledger ADD COLUMN checksum BIGINT NOT NULL DEFAULT 0;
ALTER TABLE audit ADD COLUMN checksum BIGINT NOT NULL DEFAULT 0;
