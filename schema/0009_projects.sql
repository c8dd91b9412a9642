-- Tenants may have several projects (decisions/0076). A release that knows less puts instances of all of them into one
-- network. `schema_floor` rises with the first project other than "default"; here, where one is there already.

UPDATE meta SET value = 9 WHERE name = 'schema_floor' AND value < 9
    AND EXISTS (SELECT 1 FROM objects WHERE kind = 'project' AND id NOT LIKE '%/default');
