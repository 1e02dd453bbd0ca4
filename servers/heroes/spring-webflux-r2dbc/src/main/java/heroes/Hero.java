package heroes;

import java.time.LocalDate;

/** A row of the heroes table, which is also the answer's JSON. */
record Hero(
    int id,
    String name,
    String race,
    String heroClass,
    String alignment,
    String savingThrows,
    String skills,
    String languages,
    String features,
    String equipment,
    String background,
    String damage,
    LocalDate dateOfBirth,
    int hitPoints,
    int level,
    int strength,
    int dexterity,
    int constitution,
    int intelligence,
    int wisdom,
    int charisma,
    int armorClass,
    int speed,
    int initiative,
    int proficiencyBonus,
    int attack) {

  /** The names of the columns, from which Spring maps a row to this record. */
  static final String COLUMNS =
      """
      id, name, race, hero_class, alignment, saving_throws, skills, languages, features, equipment, \
      background, damage, date_of_birth, hit_points, level, strength, dexterity, constitution, \
      intelligence, wisdom, charisma, armor_class, speed, initiative, proficiency_bonus, attack""";

  /** The same hero at another level. */
  Hero withLevel(int level) {
    return new Hero(
        id, name, race, heroClass, alignment, savingThrows, skills, languages, features, equipment,
        background, damage, dateOfBirth, hitPoints, level, strength, dexterity, constitution,
        intelligence, wisdom, charisma, armorClass, speed, initiative, proficiencyBonus, attack);
  }
}
