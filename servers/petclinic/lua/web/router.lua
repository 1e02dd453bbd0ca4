-- Routes: a method and a path with parameters lead to a handler.
--
--   router:add("GET", "/owners/:owner_id[%d]/edit", handler)
--
-- `:name` takes one segment of any characters, `:name[set]` one of that Lua character set. HEAD goes where GET goes.

local Router = {}
Router.__index = Router

--- An empty router.
function Router.new()
  return setmetatable({ fixed = {}, patterns = {} }, Router)
end

-- "/owners/:id[%d]" -> "^/owners/([%d]+)$", { "id" }; no pattern for a path without parameters.
local function compile(path)
  local names = {}
  local pattern = path:gsub("[%-%.%+%*%?%^%$]", "%%%0"):gsub(":([%a_]+)(%b[])", function(name, set)
    names[#names + 1] = name
    return "(" .. set .. "+)"
  end):gsub(":([%a_]+)", function(name)
    names[#names + 1] = name
    return "([^/]+)"
  end)
  return #names > 0 and "^" .. pattern .. "$" or nil, names
end

--- Leads `method` requests for `path` to `handler(request, params)`.
function Router:add(method, path, handler)
  local pattern, names = compile(path)
  if not pattern then
    self.fixed[path] = self.fixed[path] or {}
    self.fixed[path][method] = handler
    return
  end
  for _, route in ipairs(self.patterns) do
    if route.pattern == pattern then
      route.handlers[method] = handler
      return
    end
  end
  self.patterns[#self.patterns + 1] = { pattern = pattern, names = names, handlers = { [method] = handler } }
end

local function allowed(handlers)
  local methods = {}
  for method in pairs(handlers) do methods[#methods + 1] = method end
  if handlers.GET then methods[#methods + 1] = "HEAD" end
  table.sort(methods)
  return table.concat(methods, ", ")
end

-- The parameters of `route` in `path` by name, or nothing where it does not match.
local function parameters(route, path)
  local found = { path:match(route.pattern) }
  if #found == 0 then return nil end
  local params = {}
  for index, name in ipairs(route.names) do params[name] = found[index] end
  return params
end

--- The handler and its parameters. Where there is none: nil, nil, and the methods that the
-- path does answer as the text of an Allow header (nil for an unknown path).
function Router:match(method, path)
  if method == "HEAD" then method = "GET" end
  local handlers = self.fixed[path]
  if handlers then
    if handlers[method] then return handlers[method], {} end
    return nil, nil, allowed(handlers)
  end
  for _, route in ipairs(self.patterns) do
    local params = parameters(route, path)
    if params then
      if route.handlers[method] then return route.handlers[method], params end
      return nil, nil, allowed(route.handlers)
    end
  end
  return nil
end

return Router
