//! The clinic's records in SQLite.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Params, Row};
use serde::Serialize;

use crate::Failure;
use crate::form::Values;

type Result<T> = rusqlite::Result<T>;

/// The statements of all pages stay prepared.
const STATEMENTS: usize = 32;
const BUSY: Duration = Duration::from_secs(5);

#[derive(Serialize)]
pub struct Vet {
    name: String,
    specialties: String,
}

#[derive(Serialize)]
pub struct Owner {
    pub id: i64,
    pub name: String,
    pub first_name: String,
    pub last_name: String,
    pub address: String,
    pub city: String,
    pub telephone: String,
}

/// An owner in the list, with the names of its pets.
#[derive(Serialize)]
pub struct ListedOwner {
    #[serde(flatten)]
    pub owner: Owner,
    pets: String,
}

#[derive(Serialize)]
pub struct Visit {
    pub id: i64,
    pub date: String,
    pub description: String,
}

/// A pet with its visits, oldest first.
#[derive(Serialize)]
pub struct PetSeen {
    id: i64,
    name: String,
    birth_date: String,
    r#type: String,
    visits: Vec<Visit>,
    visited: bool,
}

pub struct Pet {
    pub id: i64,
    pub name: String,
    pub birth_date: String,
    pub type_id: i64,
}

/// A connection to the records.
pub struct Records {
    connection: Connection,
}

/// Makes the database at `path` from the contract's schema.sql and data.sql.
pub fn create(path: &Path, contract: &Path) -> std::result::Result<(), Failure> {
    let mut connection = Connection::open(path)?;
    // Every worker reads while one writes. The file lives as long as its server: nothing need survive a power cut.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let transaction = connection.transaction()?;
    for file in ["schema.sql", "data.sql"] {
        transaction.execute_batch(&fs::read_to_string(contract.join(file))?)?;
    }
    Ok(transaction.commit()?)
}

impl Owner {
    fn read(row: &Row) -> Result<Self> {
        let (first_name, last_name): (String, String) =
            (row.get("first_name")?, row.get("last_name")?);
        Ok(Self {
            id: row.get("id")?,
            name: format!("{first_name} {last_name}"),
            first_name,
            last_name,
            address: row.get("address")?,
            city: row.get("city")?,
            telephone: row.get("telephone")?,
        })
    }
}

impl Records {
    /// Opens the database at `path`.
    pub fn open(path: &Path) -> Result<Self> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY)?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(Self { connection })
    }

    fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.query_map(params, read)?.collect()
    }

    fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.query_row(params, read).optional()
    }

    /// Runs a statement that gives no rows; the id of the row it inserted.
    fn run(&self, sql: &str, params: impl Params) -> Result<i64> {
        self.connection.prepare_cached(sql)?.execute(params)?;
        Ok(self.connection.last_insert_rowid())
    }

    /// The vets by name.
    pub fn vets(&self) -> Result<Vec<Vet>> {
        let rows = self.all(
            "SELECT v.id, v.first_name || ' ' || v.last_name, s.name
             FROM vets v
             LEFT JOIN vet_specialties vs ON vs.vet_id = v.id
             LEFT JOIN specialties s ON s.id = vs.specialty_id
             ORDER BY v.last_name, v.first_name, v.id, s.name",
            (),
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        let vets = gather(rows).into_iter().map(|(name, parts)| Vet {
            name,
            specialties: if parts.is_empty() {
                "none".to_owned()
            } else {
                parts.join(", ")
            },
        });
        Ok(vets.collect())
    }

    /// The owners whose last name begins with `prefix` (any case), by name.
    pub fn owners(&self, prefix: &str) -> Result<Vec<ListedOwner>> {
        let mut pattern = String::with_capacity(prefix.len() + 1);
        for letter in prefix.chars() {
            if matches!(letter, '\\' | '%' | '_') {
                pattern.push('\\');
            }
            pattern.push(letter);
        }
        pattern.push('%');
        let rows = self.all(
            "SELECT o.id, o.first_name, o.last_name, o.address, o.city, o.telephone, p.name AS pet
             FROM owners o
             LEFT JOIN pets p ON p.owner_id = o.id
             WHERE o.last_name LIKE ? ESCAPE '\\'
             ORDER BY o.last_name, o.first_name, o.id, p.name",
            [pattern],
            |row| Ok((row.get("id")?, Owner::read(row)?, row.get("pet")?)),
        )?;
        let owners = gather(rows).into_iter().map(|(owner, pets)| ListedOwner {
            owner,
            pets: pets.join(", "),
        });
        Ok(owners.collect())
    }

    /// The owner of that id.
    pub fn owner(&self, id: i64) -> Result<Option<Owner>> {
        self.one(
            "SELECT id, first_name, last_name, address, city, telephone FROM owners WHERE id = ?",
            [id],
            Owner::read,
        )
    }

    /// The pets of an owner by name.
    pub fn pets(&self, owner_id: i64) -> Result<Vec<PetSeen>> {
        let mut pets: Vec<PetSeen> = Vec::new();
        self.all(
            "SELECT p.id, p.name, p.birth_date, t.name, v.id, v.visit_date, v.description
             FROM pets p
             JOIN types t ON t.id = p.type_id
             LEFT JOIN visits v ON v.pet_id = p.id
             WHERE p.owner_id = ?
             ORDER BY p.name, p.id, v.visit_date, v.id",
            [owner_id],
            |row| {
                let id = row.get(0)?;
                if pets.last().is_none_or(|pet| pet.id != id) {
                    pets.push(PetSeen {
                        id,
                        name: row.get(1)?,
                        birth_date: row.get(2)?,
                        r#type: row.get(3)?,
                        visits: Vec::new(),
                        visited: false,
                    });
                }
                if let (Some(pet), Some(id)) = (pets.last_mut(), row.get(4)?) {
                    pet.visited = true;
                    pet.visits.push(Visit {
                        id,
                        date: row.get(5)?,
                        description: row.get(6)?,
                    });
                }
                Ok(())
            },
        )?;
        Ok(pets)
    }

    /// The pet of that id if it belongs to that owner.
    pub fn pet(&self, owner_id: i64, id: i64) -> Result<Option<Pet>> {
        let sql = "SELECT id, name, birth_date, type_id FROM pets WHERE id = ? AND owner_id = ?";
        self.one(sql, [id, owner_id], |row| {
            Ok(Pet {
                id: row.get(0)?,
                name: row.get(1)?,
                birth_date: row.get(2)?,
                type_id: row.get(3)?,
            })
        })
    }

    /// The visit of that id if it belongs to that pet.
    pub fn visit(&self, pet_id: i64, id: i64) -> Result<Option<Visit>> {
        let sql = "SELECT id, visit_date, description FROM visits WHERE id = ? AND pet_id = ?";
        self.one(sql, [id, pet_id], |row| {
            Ok(Visit {
                id: row.get(0)?,
                date: row.get(1)?,
                description: row.get(2)?,
            })
        })
    }

    /// The ids and names of the types of pets, by name.
    pub fn types(&self) -> Result<Vec<(i64, String)>> {
        let sql = "SELECT id, name FROM types ORDER BY name";
        self.all(sql, (), |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Whether the owner has a pet of that name (any case) other than `except_id`.
    pub fn has_pet_named(&self, owner_id: i64, name: &str, except_id: Option<i64>) -> Result<bool> {
        let sql =
            "SELECT 1 FROM pets WHERE owner_id = ? AND lower(name) = lower(?) AND id IS NOT ?";
        let found = self.one(sql, (owner_id, name, except_id), |_| Ok(()))?;
        Ok(found.is_some())
    }

    pub fn add_owner(&self, o: &Values) -> Result<i64> {
        let sql = "INSERT INTO owners (first_name, last_name, address, city, telephone) VALUES (?, ?, ?, ?, ?)";
        let values = [
            &o["firstName"],
            &o["lastName"],
            &o["address"],
            &o["city"],
            &o["telephone"],
        ];
        self.run(sql, values)
    }

    pub fn change_owner(&self, id: i64, o: &Values) -> Result<i64> {
        let sql = "UPDATE owners SET first_name = ?, last_name = ?, address = ?, city = ?, telephone = ? WHERE id = ?";
        let values = (
            &o["firstName"],
            &o["lastName"],
            &o["address"],
            &o["city"],
            &o["telephone"],
            id,
        );
        self.run(sql, values)
    }

    pub fn add_pet(&self, owner_id: i64, p: &Values) -> Result<i64> {
        let sql = "INSERT INTO pets (name, birth_date, type_id, owner_id) VALUES (?, ?, ?, ?)";
        self.run(sql, (&p["name"], &p["birthDate"], &p["type"], owner_id))
    }

    pub fn change_pet(&self, id: i64, p: &Values) -> Result<i64> {
        let sql = "UPDATE pets SET name = ?, birth_date = ?, type_id = ? WHERE id = ?";
        self.run(sql, (&p["name"], &p["birthDate"], &p["type"], id))
    }

    pub fn add_visit(&self, pet_id: i64, v: &Values) -> Result<i64> {
        let sql = "INSERT INTO visits (pet_id, visit_date, description) VALUES (?, ?, ?)";
        self.run(sql, (pet_id, &v["date"], &v["description"]))
    }

    pub fn change_visit(&self, id: i64, v: &Values) -> Result<i64> {
        let sql = "UPDATE visits SET visit_date = ?, description = ? WHERE id = ?";
        self.run(sql, (&v["date"], &v["description"], id))
    }
}

/// Folds neighbouring rows of one id to its record with the list of its parts.
fn gather<T>(rows: Vec<(i64, T, Option<String>)>) -> Vec<(T, Vec<String>)> {
    let mut gathered: Vec<(T, Vec<String>)> = Vec::new();
    let mut last = None;
    for (id, record, part) in rows {
        if last != Some(id) {
            gathered.push((record, Vec::new()));
            last = Some(id);
        }
        if let (Some((_, parts)), Some(part)) = (gathered.last_mut(), part) {
            parts.push(part);
        }
    }
    gathered
}
