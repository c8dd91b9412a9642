-- The first form of the store. Times are microseconds since 1970 (UTC). Numbers are those of commits. TEXT holds names,
-- BLOB whatever came.

CREATE TABLE meta (
    name TEXT NOT NULL PRIMARY KEY,
    value BIGINT NOT NULL
);

-- state: 0 live, 1 ended, 2 ended and taken out: only the id is still known.
CREATE TABLE objects (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    phase TEXT NOT NULL,
    generation BIGINT NOT NULL,
    created BIGINT NOT NULL,
    version BIGINT NOT NULL,
    state BIGINT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (kind, id)
);
CREATE INDEX objects_by_age ON objects (kind, created, id);
CREATE INDEX objects_by_tenant ON objects (kind, tenant, created, id);
CREATE INDEX objects_live ON objects (kind, created, id) WHERE state = 0;
CREATE INDEX objects_ended ON objects (version) WHERE state = 1;

-- Objects of kind "command": many, short-lived, and read only by the leader.
CREATE TABLE commands (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    phase TEXT NOT NULL,
    generation BIGINT NOT NULL,
    created BIGINT NOT NULL,
    version BIGINT NOT NULL,
    state BIGINT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (kind, id)
);
CREATE INDEX commands_by_age ON commands (kind, created, id);
CREATE INDEX commands_live ON commands (kind, created, id) WHERE state = 0;
CREATE INDEX commands_ended ON commands (version) WHERE state = 1;

CREATE TABLE events (
    number BIGINT NOT NULL,
    line BIGINT NOT NULL,
    time BIGINT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    actor TEXT NOT NULL,
    reason TEXT NOT NULL,
    message BLOB NOT NULL,
    PRIMARY KEY (number, line)
);
CREATE INDEX events_of_object ON events (kind, id, number, line);
CREATE INDEX events_of_tenant ON events (tenant, number, line);
CREATE INDEX events_by_time ON events (time, number);

CREATE TABLE ledger (
    number BIGINT NOT NULL,
    line BIGINT NOT NULL,
    time BIGINT NOT NULL,
    claim TEXT NOT NULL,
    host TEXT NOT NULL,
    tenant TEXT NOT NULL,
    use TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (number, line)
);
CREATE INDEX ledger_of_claim ON ledger (claim, number, line);
CREATE INDEX ledger_of_host ON ledger (host, time);

CREATE TABLE audit (
    number BIGINT NOT NULL,
    line BIGINT NOT NULL,
    time BIGINT NOT NULL,
    actor TEXT NOT NULL,
    address TEXT NOT NULL,
    operation TEXT NOT NULL,
    subject TEXT NOT NULL,
    tenant TEXT NOT NULL,
    status BIGINT NOT NULL,
    body_before BLOB NOT NULL,
    body_after BLOB NOT NULL,
    PRIMARY KEY (number, line)
);
CREATE INDEX audit_of_tenant ON audit (tenant, number);

INSERT INTO meta (name, value) VALUES ('epoch', 0);
INSERT INTO meta (name, value) VALUES ('number', 0);
INSERT INTO meta (name, value) VALUES ('refused', 0);
