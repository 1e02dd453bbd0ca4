-- One schema for every stack: the part of SQL that SQLite and H2 read alike.
-- A single INTEGER PRIMARY KEY numbers its own rows in SQLite; H2 is told so in spring's identity.sql.

CREATE TABLE vets (
  id INTEGER PRIMARY KEY,
  first_name VARCHAR(64) NOT NULL,
  last_name VARCHAR(64) NOT NULL
);

CREATE TABLE specialties (
  id INTEGER PRIMARY KEY,
  name VARCHAR(64) NOT NULL
);

CREATE TABLE vet_specialties (
  vet_id INTEGER NOT NULL REFERENCES vets (id),
  specialty_id INTEGER NOT NULL REFERENCES specialties (id),
  PRIMARY KEY (vet_id, specialty_id)
);

CREATE TABLE types (
  id INTEGER PRIMARY KEY,
  name VARCHAR(64) NOT NULL
);

CREATE TABLE owners (
  id INTEGER PRIMARY KEY,
  first_name VARCHAR(64) NOT NULL,
  last_name VARCHAR(64) NOT NULL,
  address VARCHAR(255) NOT NULL,
  city VARCHAR(64) NOT NULL,
  telephone VARCHAR(10) NOT NULL
);
CREATE INDEX owners_last_name ON owners (last_name);

CREATE TABLE pets (
  id INTEGER PRIMARY KEY,
  name VARCHAR(64) NOT NULL,
  birth_date DATE NOT NULL,
  type_id INTEGER NOT NULL REFERENCES types (id),
  owner_id INTEGER NOT NULL REFERENCES owners (id)
);
CREATE INDEX pets_owner_id ON pets (owner_id);

CREATE TABLE visits (
  id INTEGER PRIMARY KEY,
  pet_id INTEGER NOT NULL REFERENCES pets (id),
  visit_date DATE NOT NULL,
  description VARCHAR(255) NOT NULL
);
CREATE INDEX visits_pet_id ON visits (pet_id);
