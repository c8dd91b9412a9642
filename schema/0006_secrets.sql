-- Tenants may keep secrets (decisions/0060). A release that knows less starts instances without them, and seals them under no
-- newer key. `schema_floor` rises with the first object of kind "secret"; here, where one is there already.

UPDATE meta SET value = 6 WHERE name = 'schema_floor' AND EXISTS (SELECT 1 FROM objects WHERE kind = 'secret');
