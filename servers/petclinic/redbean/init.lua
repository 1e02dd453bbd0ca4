-- Petclinic's host on redbean: what web/app.lua asks of it, said in redbean's documented functions. Packed as
-- /.init.lua, which redbean runs once, before it forks a process for each connection.

local Store = require "petclinic.store"
local sqlite = require "lsqlite3"

local database = assert(os.getenv("PETCLINIC_DB"), "PETCLINIC_DB names the database to make")
local records

local host = {}

function host.read(path) return assert(LoadAsset("/" .. path), path .. " is not in the zip file") end

function host.log(message) Log(kLogError, message) end

function host.request() return { method = GetMethod(), path = GetPath(), param = GetParam } end

function host.respond(status, headers, body)
  SetStatus(status)
  for name, value in pairs(headers) do SetHeader(name, value) end
  Write(body)
end

function host.serve_asset(path)
  if not GetAssetSize(path) then return false end
  ServeAsset(path)
  return true
end

Store.create(sqlite, database, host.read)

-- Opened at a connection's first query: SQLite's connections must not cross a fork.
local app = require "petclinic.app"(host, function()
  records = records or Store.open(sqlite, database)
  return records
end)

function OnHttpRequest() app:serve() end
