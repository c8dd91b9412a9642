-- Tenants may have several projects (decisions/0078). A release that knows less puts instances of all of them into one
-- network. `schema_floor` rises with the first project other than "default"; here, where one is there already.

UPDATE meta SET value = 10 WHERE name = 'schema_floor' AND value < 10
    AND EXISTS (SELECT 1 FROM objects WHERE kind = 'project' AND id NOT LIKE '%/default');
