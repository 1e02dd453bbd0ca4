-- A thousand heroes, the same ones on every machine: arithmetic on n picks from short lists, no random
-- numbers. The steps through a list are coprime to its length, so that neighbours differ; the words of a
-- list are of like length, so that every hero is 540 to 560 bytes of JSON and none is heavier than another.
WITH words AS (
    SELECT
        ARRAY['Aldan', 'Brisa', 'Corin', 'Della', 'Edric', 'Fenna', 'Garet', 'Hilda', 'Ivory',
              'Jorun', 'Kelda', 'Lorin', 'Mirna', 'Nadir', 'Osric', 'Petra', 'Quill', 'Runar',
              'Sable', 'Tamsa', 'Ulric', 'Velda', 'Wyatt', 'Xenia', 'Yoren'] AS given,
        ARRAY['Amberley', 'Ashgrove', 'Blackoak', 'Bramwell', 'Coldwell', 'Crowford', 'Duskmere',
              'Eastmoor', 'Elderfen', 'Fairwind', 'Farthing', 'Fenbrook', 'Foxglove', 'Goldleaf',
              'Graymoor', 'Hartwood', 'Hazelden', 'Highmoor', 'Holloway', 'Ironwood', 'Kestrell',
              'Lakeford', 'Larkhill', 'Longmead', 'Marshall', 'Mossdale', 'Northway', 'Oakhurst',
              'Pinewood', 'Quarrell', 'Ravenhil', 'Redforge', 'Rosewell', 'Saltmere', 'Silverly',
              'Southall', 'Stonefel', 'Thornley', 'Westmark', 'Wildmoor'] AS family,
        ARRAY['human', 'dwarf', 'gnome', 'giant', 'troll', 'satyr', 'dryad'] AS races,
        ARRAY['ranger', 'wizard', 'cleric', 'knight', 'archer', 'bandit', 'sapper', 'healer',
              'sentry'] AS classes,
        ARRAY['lawful good', 'neutral good', 'chaotic good', 'true neutral', 'lawful evil'] AS alignments,
        ARRAY['strength', 'dexterity', 'endurance', 'intellect', 'wisdom', 'charisma'] AS abilities,
        ARRAY['alchemy', 'stealth', 'history', 'insight', 'healing', 'sailing', 'cookery', 'trading',
              'hunting', 'fishing', 'masonry'] AS skills,
        ARRAY['Common', 'Elvish', 'Sylvan', 'Gnomic', 'Draken', 'Runish', 'Orkish'] AS languages,
        ARRAY['night vision', 'second wind', 'keen hearing', 'brave heart', 'sure footing',
              'iron resolve', 'quick temper'] AS features,
        ARRAY['lantern', 'bedroll', 'compass', 'mirror', 'flute', 'shovel', 'hammer', 'crowbar',
              'kettle', 'atlas', 'candles'] AS gear,
        ARRAY['sailor', 'hermit', 'farmer', 'scribe', 'smith', 'herald', 'miller', 'weaver',
              'piper'] AS backgrounds,
        ARRAY['slashing', 'piercing', 'crushing', 'burning', 'freezing'] AS damages
)
INSERT INTO heroes (
    name, race, hero_class, alignment, saving_throws, skills, languages, features, equipment,
    background, damage, date_of_birth, hit_points, level, strength, dexterity, constitution,
    intelligence, wisdom, charisma, armor_class, speed, initiative, proficiency_bonus, attack
)
SELECT
    given[1 + n % 25] || ' ' || family[1 + n / 25],
    races[1 + n * 3 % 7],
    classes[1 + n * 4 % 9],
    alignments[1 + n * 2 % 5],
    abilities[1 + n % 6] || ', ' || abilities[1 + (n + 3) % 6],
    skills[1 + n * 3 % 11] || ', ' || skills[1 + (n * 3 + 4) % 11],
    languages[1 + n % 7] || ', ' || languages[1 + (n + 3) % 7],
    features[1 + n * 2 % 7] || ', ' || features[1 + (n * 2 + 3) % 7],
    gear[1 + n * 5 % 11] || ', ' || gear[1 + (n * 5 + 2) % 11] || ', ' || gear[1 + (n * 5 + 7) % 11],
    'raised by a ' || backgrounds[1 + n * 5 % 9],
    (1 + n % 3) || 'd' || (4 + n * 2 % 5) || ' ' || damages[1 + n * 3 % 5],
    DATE '1970-01-01' + n * 37 % 9000,
    20 + n * 7 % 80,
    1 + n % 20,
    10 + n * 3 % 9,
    10 + n * 5 % 9,
    10 + n * 7 % 9,
    10 + n * 2 % 9,
    10 + n * 4 % 9,
    10 + n * 8 % 9,
    10 + n * 3 % 11,
    25 + n * 5 % 15,
    1 + n % 5,
    2 + n % 4,
    3 + n * 3 % 7
FROM words, generate_series(0, 999) AS n;

ANALYZE heroes;
