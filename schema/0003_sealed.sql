-- Objects may hold sealed secrets (decisions/0042), which a release that knows less takes for the secrets themselves.
-- `schema_floor` rises with the first object of kind "sealing_key"; here, where one is there already.

UPDATE meta SET value = 3 WHERE name = 'schema_floor' AND EXISTS (SELECT 1 FROM objects WHERE kind = 'sealing_key');
