-- Who leads, and until when by the clock of the server; one row. Renewed apart from commits, which lock `meta` alone.

CREATE TABLE lease (
    one BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    address TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    ends BIGINT NOT NULL,
    server BIGINT NOT NULL
);
INSERT INTO lease (one, name, address, epoch, ends, server) VALUES (1, '', '', 0, 0, 0);
