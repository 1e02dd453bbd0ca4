-- SQLite for LuaJIT: the part of lsqlite3's interface that the clinic uses, over libsqlite3 by LuaJIT's FFI. Debian has
-- no lsqlite3, and its luasql binds no values.

local ffi = require "ffi"

ffi.cdef [[
  typedef struct sqlite3 sqlite3;
  typedef struct sqlite3_stmt sqlite3_stmt;
  typedef long long sqlite3_int64;
  int sqlite3_open(const char *, sqlite3 **);
  int sqlite3_close_v2(sqlite3 *);
  int sqlite3_busy_timeout(sqlite3 *, int);
  int sqlite3_exec(sqlite3 *, const char *, void *, void *, char **);
  const char *sqlite3_errmsg(sqlite3 *);
  sqlite3_int64 sqlite3_last_insert_rowid(sqlite3 *);
  int sqlite3_prepare_v2(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
  int sqlite3_finalize(sqlite3_stmt *);
  int sqlite3_reset(sqlite3_stmt *);
  int sqlite3_step(sqlite3_stmt *);
  int sqlite3_bind_null(sqlite3_stmt *, int);
  int sqlite3_bind_double(sqlite3_stmt *, int, double);
  int sqlite3_bind_int64(sqlite3_stmt *, int, sqlite3_int64);
  int sqlite3_bind_text(sqlite3_stmt *, int, const char *, int, intptr_t);
  int sqlite3_column_count(sqlite3_stmt *);
  const char *sqlite3_column_name(sqlite3_stmt *, int);
  int sqlite3_column_type(sqlite3_stmt *, int);
  int sqlite3_column_bytes(sqlite3_stmt *, int);
  const char *sqlite3_column_text(sqlite3_stmt *, int);
  double sqlite3_column_double(sqlite3_stmt *, int);
  sqlite3_int64 sqlite3_column_int64(sqlite3_stmt *, int);
]]

local C = ffi.load("libsqlite3.so.0")
local INTEGER, FLOAT, NULL = 1, 2, 5
local TRANSIENT = -1 -- SQLite keeps its own copy of a bound text

local sqlite = { OK = 0, ROW = 100, DONE = 101 }

local Statement = {}
Statement.__index = Statement

function Statement:reset() return C.sqlite3_reset(self.handle) end
function Statement:step() return C.sqlite3_step(self.handle) end

function Statement:bind_values(...)
  local handle = self.handle
  for index = 1, select("#", ...) do
    local value = select(index, ...)
    if value == nil then
      C.sqlite3_bind_null(handle, index)
    elseif type(value) == "number" then
      if value % 1 == 0 then
        C.sqlite3_bind_int64(handle, index, value)
      else
        C.sqlite3_bind_double(handle, index, value)
      end
    else
      C.sqlite3_bind_text(handle, index, value, #value, TRANSIENT)
    end
  end
  return sqlite.OK
end

local function column(handle, index)
  local kind = C.sqlite3_column_type(handle, index)
  if kind == NULL then return nil end
  if kind == INTEGER then return tonumber(C.sqlite3_column_int64(handle, index)) end
  if kind == FLOAT then return C.sqlite3_column_double(handle, index) end
  return ffi.string(C.sqlite3_column_text(handle, index), C.sqlite3_column_bytes(handle, index))
end

--- Iterates over the rows as tables by column name; resets the statement after the last.
function Statement:nrows()
  local handle, names = self.handle, self.names
  return function()
    local result = C.sqlite3_step(handle)
    if result == sqlite.ROW then
      local row = {}
      for index = 1, #names do row[names[index]] = column(handle, index - 1) end
      return row
    end
    C.sqlite3_reset(handle)
    if result ~= sqlite.DONE then error(self.db:errmsg()) end
    return nil
  end
end

local Database = {}
Database.__index = Database

function Database:errmsg() return ffi.string(C.sqlite3_errmsg(self.handle)) end
function Database:busy_timeout(ms) return C.sqlite3_busy_timeout(self.handle, ms) end
function Database:exec(sql) return C.sqlite3_exec(self.handle, sql, nil, nil, nil) end
function Database:last_insert_rowid() return tonumber(C.sqlite3_last_insert_rowid(self.handle)) end

--- The prepared statement of `sql`, or nil (errmsg says why).
function Database:prepare(sql)
  local out = ffi.new("sqlite3_stmt *[1]")
  if C.sqlite3_prepare_v2(self.handle, sql, #sql, out, nil) ~= sqlite.OK then return nil end
  local handle = ffi.gc(out[0], C.sqlite3_finalize)
  local names = {}
  for index = 1, C.sqlite3_column_count(handle) do
    names[index] = ffi.string(C.sqlite3_column_name(handle, index - 1))
  end
  return setmetatable({ handle = handle, names = names, db = self }, Statement)
end

function Database:close()
  local handle = self.handle
  self.handle = nil
  return C.sqlite3_close_v2(ffi.gc(handle, nil))
end

--- Opens or makes the database at `path`; nil, message where that fails.
function sqlite.open(path)
  local out = ffi.new("sqlite3 *[1]")
  local result = C.sqlite3_open(path, out)
  local self = setmetatable({ handle = ffi.gc(out[0], C.sqlite3_close_v2) }, Database)
  if result ~= sqlite.OK then return nil, self:errmsg() end
  return self
end

return sqlite
