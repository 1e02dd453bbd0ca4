-- An application: routes, pages, static assets and what happens when nothing fits or something fails.
--
-- It knows its host only through five functions, so that one application runs wherever they can be written:
--
--   host.read(path)          the text of a file of the application ("pages/layout.html", "schema.sql")
--   host.log(message)        a line to the server's log
--   host.request()           { method =, path =, param = function(name) -> text or nil }
--   host.respond(status, headers, body)
--   host.serve_asset(path)   answers with the static file of that path, as the host does best; false where there is none

local Router = require "web.router"
local template = require "web.template"

local App = {}
App.__index = App

local HTML = { ["Content-Type"] = "text/html; charset=utf-8" }

--- An application on `host`; `apology` is what the page of a failed request says.
function App.new(host, apology)
  local self = setmetatable({ host = host, apology = apology, router = Router.new(), assets = {} }, App)
  self.render = template.set(function(name) return host.read("pages/" .. name) end)
  return self
end

function App:get(path, handler) self.router:add("GET", path, handler) end
function App:post(path, handler) self.router:add("POST", path, handler) end

--- Serves the files below `prefix` ("/assets/") as they are.
function App:static(prefix) self.assets[#self.assets + 1] = prefix end

--- What a handler returns for a page: `name` rendered with `context`.
function App:page(name, context, status)
  return { status = status or 200, headers = HTML, body = self.render(name, context) }
end

--- What a handler returns to send the browser on with a GET.
function App.see_other(location)
  return { status = 303, headers = { ["Location"] = location, ["Content-Type"] = HTML["Content-Type"] }, body = "" }
end

--- What a handler returns when the thing that is asked for does not exist.
function App:not_found()
  return self:page("error.html", { title = "Not found", message = "There is nothing at this address." }, 404)
end

local function answer(self, request)
  local handler, params, allowed = self.router:match(request.method, request.path)
  if handler then return handler(request, params) end
  if not allowed then return self:not_found() end
  local context = { title = "Not allowed", message = "This address does not answer that method." }
  local response = self:page("error.html", context, 405)
  response.headers = { ["Content-Type"] = HTML["Content-Type"], ["Allow"] = allowed }
  return response
end

local function is_asset(self, request)
  if request.method ~= "GET" and request.method ~= "HEAD" then return false end
  for _, prefix in ipairs(self.assets) do
    if request.path:sub(1, #prefix) == prefix then return true end
  end
  return false
end

--- Answers the host's current request. A handler that throws is logged with its trace and answered by an error page.
function App:serve()
  local host = self.host
  local request = host.request()
  if is_asset(self, request) and host.serve_asset(request.path) ~= false then return end
  local ok, response = xpcall(answer, debug.traceback, self, request)
  if not ok then
    host.log(response)
    local context = { active = "oops", title = "Something went wrong", message = self.apology }
    response = self:page("error.html", context, 500)
  end
  return host.respond(response.status, response.headers, response.body)
end

return App
