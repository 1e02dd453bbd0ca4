-- The clinic's records in SQLite, through the interface of lsqlite3 (redbean has it built in; see sqlite_ffi.lua for
-- LuaJIT). A connection belongs to one process: a host opens it after it has forked.

local Store = {}
Store.__index = Store

--- Makes the database at `path` from the host's schema.sql and data.sql.
function Store.create(sqlite, path, read)
  local db = assert(sqlite.open(path))
  -- A write-ahead log lets every worker read while one writes. The file lives as long as its server: nothing need
  -- survive a power cut.
  db:exec("PRAGMA journal_mode = WAL")
  for _, file in ipairs { "schema.sql", "data.sql" } do
    if db:exec("BEGIN;" .. read(file) .. "COMMIT;") ~= sqlite.OK then
      error(("%s: %s"):format(file, db:errmsg()))
    end
  end
  db:close()
end

--- Opens the database at `path`.
function Store.open(sqlite, path)
  local db = assert(sqlite.open(path))
  db:busy_timeout(5000)
  db:exec("PRAGMA synchronous = OFF")
  return setmetatable({ sqlite = sqlite, db = db, statements = {} }, Store)
end

-- The prepared statement of `sql` with its values bound; each statement is prepared once a connection.
function Store:bound(sql, ...)
  local statement = self.statements[sql]
  if not statement then
    statement = self.db:prepare(sql)
    if not statement then error(self.db:errmsg()) end
    self.statements[sql] = statement
  end
  statement:reset()
  if select("#", ...) > 0 then statement:bind_values(...) end
  return statement
end

-- All rows of a query as tables by column name. A statement that was read to its end holds no lock.
function Store:rows(sql, ...)
  local rows = {}
  for row in self:bound(sql, ...):nrows() do rows[#rows + 1] = row end
  return rows
end

-- Runs a statement that gives no rows; returns the id of the row it inserted.
function Store:run(sql, ...)
  local statement = self:bound(sql, ...)
  local result = statement:step()
  statement:reset()
  if result ~= self.sqlite.DONE then error(self.db:errmsg()) end
  return self.db:last_insert_rowid()
end

-- Folds rows that repeat a record for each of its parts: `[{ id, ..., part }]` to one record an id, in order, with
-- the list of its parts that are set.
local function gather(rows, part)
  local records, by_id = {}, {}
  for _, row in ipairs(rows) do
    local record = by_id[row.id]
    if not record then
      record = { row = row, parts = {} }
      by_id[row.id] = record
      records[#records + 1] = record
    end
    if row[part] then record.parts[#record.parts + 1] = row[part] end
  end
  return records
end

--- The vets by name, each with its specialties as one text.
function Store:vets()
  local vets = gather(self:rows [[
    SELECT v.id, v.first_name, v.last_name, s.name AS specialty
    FROM vets v
    LEFT JOIN vet_specialties vs ON vs.vet_id = v.id
    LEFT JOIN specialties s ON s.id = vs.specialty_id
    ORDER BY v.last_name, v.first_name, v.id, s.name]], "specialty")
  for index, vet in ipairs(vets) do
    vets[index] = {
      name = vet.row.first_name .. " " .. vet.row.last_name,
      specialties = #vet.parts > 0 and table.concat(vet.parts, ", ") or "none",
    }
  end
  return vets
end

--- The owners whose last name begins with `prefix` (any case), by name, each with the names of its pets as one text.
function Store:owners(prefix)
  local pattern = prefix:gsub("[\\%%_]", "\\%0") .. "%"
  local owners = gather(self:rows([[
    SELECT o.id, o.first_name, o.last_name, o.address, o.city, o.telephone, p.name AS pet
    FROM owners o
    LEFT JOIN pets p ON p.owner_id = o.id
    WHERE o.last_name LIKE ? ESCAPE '\'
    ORDER BY o.last_name, o.first_name, o.id, p.name]], pattern), "pet")
  for index, owner in ipairs(owners) do
    local row = owner.row
    row.name = row.first_name .. " " .. row.last_name
    row.pets = table.concat(owner.parts, ", ")
    owners[index] = row
  end
  return owners
end

--- The owner of that id, or nil.
function Store:owner(id)
  local owner = self:rows("SELECT id, first_name, last_name, address, city, telephone FROM owners WHERE id = ?", id)[1]
  if owner then owner.name = owner.first_name .. " " .. owner.last_name end
  return owner
end

--- The pets of an owner by name, each with its visits, oldest first.
function Store:pets(owner_id)
  local rows = self:rows([[
    SELECT p.id, p.name, p.birth_date, t.name AS type, v.id AS visit_id, v.visit_date, v.description
    FROM pets p
    JOIN types t ON t.id = p.type_id
    LEFT JOIN visits v ON v.pet_id = p.id
    WHERE p.owner_id = ?
    ORDER BY p.name, p.id, v.visit_date, v.id]], owner_id)
  local pets, by_id = {}, {}
  for _, row in ipairs(rows) do
    local pet = by_id[row.id]
    if not pet then
      pet = { id = row.id, name = row.name, birth_date = row.birth_date, type = row.type, visits = {}, visited = false }
      by_id[row.id] = pet
      pets[#pets + 1] = pet
    end
    if row.visit_id then
      pet.visited = true
      pet.visits[#pet.visits + 1] = { id = row.visit_id, date = row.visit_date, description = row.description }
    end
  end
  return pets
end

--- The pet of that id if it belongs to that owner, or nil.
function Store:pet(owner_id, id)
  return self:rows("SELECT id, name, birth_date, type_id FROM pets WHERE id = ? AND owner_id = ?", id, owner_id)[1]
end

--- The visit of that id if it belongs to that pet, or nil.
function Store:visit(pet_id, id)
  return self:rows("SELECT id, visit_date, description FROM visits WHERE id = ? AND pet_id = ?", id, pet_id)[1]
end

--- The types of pets by name.
function Store:types() return self:rows "SELECT id, name FROM types ORDER BY name" end

--- Whether the owner has another pet of that name (any case); `except_id` is the pet being edited, or 0.
function Store:has_pet_named(owner_id, name, except_id)
  local sql = "SELECT id FROM pets WHERE owner_id = ? AND lower(name) = lower(?) AND id <> ?"
  return #self:rows(sql, owner_id, name, except_id) > 0
end

function Store:add_owner(o)
  return self:run("INSERT INTO owners (first_name, last_name, address, city, telephone) VALUES (?, ?, ?, ?, ?)",
    o.firstName, o.lastName, o.address, o.city, o.telephone)
end

function Store:change_owner(id, o)
  self:run("UPDATE owners SET first_name = ?, last_name = ?, address = ?, city = ?, telephone = ? WHERE id = ?",
    o.firstName, o.lastName, o.address, o.city, o.telephone, id)
end

function Store:add_pet(owner_id, p)
  return self:run("INSERT INTO pets (name, birth_date, type_id, owner_id) VALUES (?, ?, ?, ?)",
    p.name, p.birthDate, p.type, owner_id)
end

function Store:change_pet(id, p)
  self:run("UPDATE pets SET name = ?, birth_date = ?, type_id = ? WHERE id = ?", p.name, p.birthDate, p.type, id)
end

function Store:add_visit(pet_id, v)
  return self:run("INSERT INTO visits (pet_id, visit_date, description) VALUES (?, ?, ?)", pet_id, v.date, v.description)
end

function Store:change_visit(id, v)
  self:run("UPDATE visits SET visit_date = ?, description = ? WHERE id = ?", v.date, v.description, id)
end

return Store
