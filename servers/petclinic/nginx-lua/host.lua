-- Petclinic's host on nginx: what web/app.lua asks of it, said in the terms of nginx's Lua module.

local Store = require "petclinic.store"
local sqlite = require "sqlite_ffi"

local host = {}
local app, root, database, records

function host.read(path)
  local file = assert(io.open(root .. "/" .. path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

function host.log(message) ngx.log(ngx.ERR, message) end

-- The first value of a parameter; nginx gives a list for several and `true` for a name without "=".
local function first(args, name)
  local value = args and args[name]
  if type(value) == "table" then value = value[1] end
  return type(value) == "string" and value or nil
end

function host.request()
  local query, body
  return {
    method = ngx.req.get_method(),
    path = ngx.var.uri,
    param = function(name)
      query = query or ngx.req.get_uri_args()
      local value = first(query, name)
      if value or ngx.req.get_method() ~= "POST" then return value end
      if not body then
        ngx.req.read_body()
        body = ngx.req.get_post_args()
      end
      return first(body, name)
    end,
  }
end

function host.respond(status, headers, body)
  ngx.status = status
  for name, value in pairs(headers) do ngx.header[name] = value end
  ngx.header["Content-Length"] = #body
  ngx.print(body)
  return ngx.exit(ngx.OK)
end

function host.serve_asset(path)
  local file = io.open(root .. path, "rb")
  if not file then return false end
  file:close()
  return ngx.exec("@assets")
end

--- In the master process: builds the application in `folder` and its database at `path`. The workers are forked from
-- here and share the compiled code.
function host.start(folder, path)
  root, database = folder, path
  Store.create(sqlite, path, host.read)
  app = require "petclinic.app"(host, function()
    records = records or Store.open(sqlite, database)
    return records
  end)
end

--- In a worker: answers the current request.
function host.serve() return app:serve() end

return host
