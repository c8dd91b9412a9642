-- By which request of the API each change was asked for, and a checksum of that alone: releases that know neither still find
-- their own checksums right. 0: such a release has written it, or no request was there.

ALTER TABLE audit ADD COLUMN request TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN request_checksum BIGINT NOT NULL DEFAULT 0;
