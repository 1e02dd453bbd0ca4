"""redbean's `lsqlite3` module (the documented part of LuaSQLite3) over Python's sqlite3."""

from __future__ import annotations

import os
import sqlite3

from lupa import lua54

OK, ERROR, ROW, DONE = 0, 1, 100, 101

# Methods are Lua's (`db:exec(...)`), so the objects are Lua tables around the Python ones.
GLUE = """
local open, codes = ...
local Statement, Database = {}, {}
Statement.__index, Database.__index = Statement, Database

function Statement:bind_values(...) return self.inner.bind_values(...) end
function Statement:reset() return self.inner.reset() end
function Statement:finalize() return self.inner.reset() end
function Statement:step() return self.inner.step() end
function Statement:nrows()
  return function()
    local code = self.inner.step()
    if code == codes.ROW then return self.inner.named_values() end
    self.inner.reset()
    if code ~= codes.DONE then error(self.inner.errmsg()) end
  end
end

function Database:exec(sql) return self.inner.exec(sql) end
function Database:prepare(sql)
  local inner, code = self.inner.prepare(sql)
  if not inner then return nil, code end
  return setmetatable({ inner = inner }, Statement)
end
function Database:errmsg() return self.inner.errmsg() end
function Database:busy_timeout(ms) return self.inner.busy_timeout(ms) end
function Database:last_insert_rowid() return self.inner.last_insert_rowid() end
function Database:close() return self.inner.close() end

package.preload.lsqlite3 = function()
  return {
    OK = codes.OK, ERROR = codes.ERROR, ROW = codes.ROW, DONE = codes.DONE,
    open = function(path) return setmetatable({ inner = open(path) }, Database) end,
  }
end
"""


def _bytes(text: bytes) -> str:
    """SQLite's text as Lua sees it: bytes, carried by Latin-1."""
    return text.decode("latin-1")


class Database:
    """A connection. Using it in a forked process is an error, as SQLite's own documentation says."""

    def __init__(self, lua: lua54.LuaRuntime, path: str) -> None:
        """Open `path`."""
        self.lua, self.pid, self.message = lua, os.getpid(), "not an error"
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.text_factory = _bytes

    def checked(self) -> sqlite3.Connection:
        """The connection, for the process that opened it."""
        if os.getpid() != self.pid:
            raise RuntimeError("an SQLite connection was carried across a fork")
        return self.connection

    def exec(self, sql: str) -> int:
        """Run statements; a result code."""
        try:
            self.checked().executescript(sql.encode("latin-1").decode("utf-8"))
        except sqlite3.Error as error:
            self.message = str(error)
            return ERROR
        return OK

    def prepare(self, sql: str) -> Statement | tuple[None, int]:
        """A statement, or None and a code."""
        try:
            self.checked().execute("EXPLAIN " + sql, [None] * sql.count("?"))
        except sqlite3.Error as error:
            self.message = str(error)
            return None, ERROR
        return Statement(self, sql)

    def errmsg(self) -> str:
        """The last error."""
        return self.message

    def busy_timeout(self, ms: int) -> int:
        """How long to wait for another connection's lock."""
        self.checked().execute(f"PRAGMA busy_timeout = {int(ms)}")
        return OK

    def last_insert_rowid(self) -> int:
        """The id of the row inserted last."""
        return int(self.checked().execute("SELECT last_insert_rowid()").fetchone()[0])

    def close(self) -> int:
        """Close the connection."""
        self.checked().close()
        return OK


class Statement:
    """A prepared statement with its bound values and its cursor."""

    def __init__(self, database: Database, sql: str) -> None:
        """Of `sql`, nothing bound."""
        self.database, self.sql = database, sql
        self.values: tuple[object, ...] = (None,) * sql.count("?")
        self.cursor: sqlite3.Cursor | None = None
        self.row: tuple[object, ...] = ()

    def bind_values(self, *values: object) -> int:
        """Bind all parameters; a statement must be reset before."""
        if len(values) != len(self.values) or self.cursor is not None:
            return ERROR
        texts = (v.encode("latin-1").decode("utf-8") if isinstance(v, str) else v for v in values)
        self.values = tuple(texts)
        return OK

    def step(self) -> int:
        """The next row, the end, or an error."""
        try:
            if self.cursor is None:
                self.cursor = self.database.checked().execute(self.sql, self.values)
            row = self.cursor.fetchone()
        except sqlite3.Error as error:
            self.database.message = str(error)
            return ERROR
        if row is None:
            return DONE
        self.row = row
        return ROW

    def named_values(self) -> object:
        """The current row as a Lua table by column name."""
        assert self.cursor is not None
        names = [column[0] for column in self.cursor.description]
        return self.database.lua.table_from(
            {n: v for n, v in zip(names, self.row, strict=True) if v is not None}
        )

    def reset(self) -> int:
        """Back before the first row; the bound values stay."""
        if self.cursor is not None:
            self.cursor.close()
        self.cursor = None
        return OK

    def errmsg(self) -> str:
        """The last error of the connection."""
        return self.database.message


def install(lua: lua54.LuaRuntime) -> None:
    """Make `require "lsqlite3"` work in `lua`."""
    codes = lua.table_from({"OK": OK, "ERROR": ERROR, "ROW": ROW, "DONE": DONE})
    lua.execute(GLUE, lambda path: Database(lua, path), codes)
