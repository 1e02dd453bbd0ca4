-- New rows are numbered after the ones that data.sql numbered itself.
ALTER TABLE owners ALTER COLUMN id RESTART WITH (SELECT MAX(id) + 1 FROM owners);
ALTER TABLE pets ALTER COLUMN id RESTART WITH (SELECT MAX(id) + 1 FROM pets);
ALTER TABLE visits ALTER COLUMN id RESTART WITH (SELECT MAX(id) + 1 FROM visits);
