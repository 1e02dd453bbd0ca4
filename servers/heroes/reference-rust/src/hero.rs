//! A row of the heroes table, which is also the answer's JSON.

use chrono::NaiveDate;
use serde::Serialize;
use tokio_postgres::{Error, Row};

use crate::connections::Connections;

/// One row by primary key, its columns in the order in which [`Hero::read`] takes them.
pub const SELECT: &str = "
    SELECT id, name, race, hero_class, alignment, saving_throws, skills, languages, features, equipment,
           background, damage, date_of_birth, hit_points, level, strength, dexterity, constitution,
           intelligence, wisdom, charisma, armor_class, speed, initiative, proficiency_bonus, attack
    FROM heroes WHERE id = $1";

#[derive(Serialize)]
pub struct Hero {
    pub id: i32,
    pub name: String,
    pub race: String,
    pub hero_class: String,
    pub alignment: String,
    pub saving_throws: String,
    pub skills: String,
    pub languages: String,
    pub features: String,
    pub equipment: String,
    pub background: String,
    pub damage: String,
    pub date_of_birth: NaiveDate,
    pub hit_points: i32,
    pub level: i64,
    pub strength: i32,
    pub dexterity: i32,
    pub constitution: i32,
    pub intelligence: i32,
    pub wisdom: i32,
    pub charisma: i32,
    pub armor_class: i32,
    pub speed: i32,
    pub initiative: i32,
    pub proficiency_bonus: i32,
    pub attack: i32,
}

impl Hero {
    /// Reads the columns in the order of `SELECT`.
    fn read(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.try_get(0)?,
            name: row.try_get(1)?,
            race: row.try_get(2)?,
            hero_class: row.try_get(3)?,
            alignment: row.try_get(4)?,
            saving_throws: row.try_get(5)?,
            skills: row.try_get(6)?,
            languages: row.try_get(7)?,
            features: row.try_get(8)?,
            equipment: row.try_get(9)?,
            background: row.try_get(10)?,
            damage: row.try_get(11)?,
            date_of_birth: row.try_get(12)?,
            hit_points: row.try_get(13)?,
            level: row.try_get::<_, i32>(14)?.into(),
            strength: row.try_get(15)?,
            dexterity: row.try_get(16)?,
            constitution: row.try_get(17)?,
            intelligence: row.try_get(18)?,
            wisdom: row.try_get(19)?,
            charisma: row.try_get(20)?,
            armor_class: row.try_get(21)?,
            speed: row.try_get(22)?,
            initiative: row.try_get(23)?,
            proficiency_bonus: row.try_get(24)?,
            attack: row.try_get(25)?,
        })
    }
}

/// The hero of that id.
pub async fn find(connections: &Connections, id: i32) -> Result<Option<Hero>, Error> {
    let open = connections.get().await?;
    let row = open.client.query_opt(&open.statement, &[&id]).await?;
    row.as_ref().map(Hero::read).transpose()
}
