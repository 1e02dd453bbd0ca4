-- The clinic's invented people and animals: 6 vets, 3 specialties, 6 pet types, 10 owners, 13 pets, 4 visits.
-- An apostrophe, an ampersand and letters beyond ASCII are among them so that escaping and encoding are exercised.

INSERT INTO vets (id, first_name, last_name) VALUES
  (1, 'Amara', 'Okafor'),
  (2, 'Henrik', 'Lund'),
  (3, 'Mei', 'Tanaka'),
  (4, 'Rosa', 'Delgado'),
  (5, 'Tomáš', 'Novák'),
  (6, 'Priya', 'Nair');

INSERT INTO specialties (id, name) VALUES
  (1, 'cardiology'),
  (2, 'dentistry'),
  (3, 'surgery');

INSERT INTO vet_specialties (vet_id, specialty_id) VALUES
  (2, 1),
  (3, 3),
  (3, 2),
  (4, 3),
  (6, 1);

INSERT INTO types (id, name) VALUES
  (1, 'bird'),
  (2, 'cat'),
  (3, 'dog'),
  (4, 'hamster'),
  (5, 'rabbit'),
  (6, 'tortoise');

INSERT INTO owners (id, first_name, last_name, address, city, telephone) VALUES
  (1, 'Agnes', 'Ashdown', '4 Orchard Walk', 'Millbrook', '5550140017'),
  (2, 'Bruno', 'Bellweather', '27 Station Road', 'Fernhill', '5550140026'),
  (3, 'Clara', 'Bellweather', '27 Station Road', 'Fernhill', '5550140035'),
  (4, 'Dmitri', 'Castellan', '91 Quay Street', 'Port Selby', '5550140044'),
  (5, 'Edith', 'Dunmore', '12 Bell & Anchor Row', 'Port Selby', '5550140053'),
  (6, 'Farid', 'Haddad', '3 Larch Close', 'Millbrook', '5550140062'),
  (7, 'Greta', 'Lindqvist', '58 Upper Common', 'Fernhill', '5550140071'),
  (8, 'Hugh', 'O''Malley', '16 Mill Lane', 'Oxley Green', '5550140080'),
  (9, 'Ines', 'Peralta', '7 Chapel Steps', 'Oxley Green', '5550140099'),
  (10, 'Jonas', 'Whitfield', '40 Long Acre', 'Millbrook', '5550140108');

INSERT INTO pets (id, name, birth_date, type_id, owner_id) VALUES
  (1, 'Pepper', '2019-03-14', 2, 1),
  (2, 'Biscuit', '2017-08-02', 3, 2),
  (3, 'Clementine', '2021-05-20', 5, 3),
  (4, 'Marlow', '2016-11-09', 3, 3),
  (5, 'Otto', '2020-01-27', 4, 4),
  (6, 'Juniper', '2018-06-30', 2, 5),
  (7, 'Thistle', '2018-06-30', 2, 5),
  (8, 'Saffron', '2022-02-11', 1, 6),
  (9, 'Atlas', '1998-04-05', 6, 7),
  (10, 'Fennel', '2015-09-18', 3, 8),
  (11, 'Domino', '2021-12-24', 5, 9),
  (12, 'Quill', '2020-07-07', 1, 10),
  (13, 'Bramble', '2019-10-31', 3, 10);

INSERT INTO visits (id, pet_id, visit_date, description) VALUES
  (1, 6, '2024-02-12', 'yearly vaccination'),
  (2, 7, '2024-02-12', 'yearly vaccination'),
  (3, 10, '2024-05-23', 'limping on the left front paw'),
  (4, 6, '2024-09-03', 'teeth cleaned');
