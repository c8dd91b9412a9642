-- With which program each change was asked for, and a checksum of that alone: releases that know neither still find their
-- own checksum right. The audit is read by time, the newest first.

ALTER TABLE audit ADD COLUMN client TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN client_checksum BIGINT NOT NULL DEFAULT 0;
CREATE INDEX audit_by_time ON audit (time, number, line);
CREATE INDEX audit_of_tenant_by_time ON audit (tenant, time, number, line);
DROP INDEX audit_of_tenant;
