-- The table `wrk` as scripts find it, and threads as scripts hold them.
--
-- The program has put into the table where the test goes (scheme, host, port, path), the header fields
-- of the command line, and the functions lookup and connect.
local wrk = ...

wrk.method = "GET"

-- Keeps of all addresses of a service those that accept a connection.
function wrk.resolve(host, service)
  wrk.addrs = {}
  for _, addr in ipairs(wrk.lookup(host, service)) do
    if wrk.connect(addr) then
      table.insert(wrk.addrs, addr)
    end
  end
end

-- In the main state, once for each thread.
function wrk.setup(thread)
  thread.addr = wrk.addrs[1]
  if type(setup) == "function" then
    setup(thread)
  end
end

local function authority()
  local host = wrk.host
  if host:find(":", 1, true) then
    host = "[" .. host .. "]"
  end
  if wrk.port then
    return host .. ":" .. wrk.port
  end
  return host
end

-- In a thread's own state, before its first request.
function wrk.init(args)
  wrk.headers["Host"] = wrk.headers["Host"] or authority()
  if type(init) == "function" then
    init(args)
  end
  local same = wrk.format()
  wrk.request = function()
    return same
  end
end

-- A request as text; what is not given is taken from `wrk`. The table of headers is changed.
function wrk.format(method, path, headers, body)
  headers = headers or wrk.headers
  body = body or wrk.body
  headers["Host"] = headers["Host"] or wrk.headers["Host"]
  headers["Content-Length"] = body and #body
  local lines = { ("%s %s HTTP/1.1"):format(method or wrk.method, path or wrk.path) }
  for name, value in pairs(headers) do
    lines[#lines + 1] = ("%s: %s"):format(name, value)
  end
  return table.concat(lines, "\r\n") .. "\r\n\r\n" .. (body or "")
end

-- A thread, out of what the program can do with one. Errors are at the place that called.
return function(host)
  local methods = { stop = host.stop }

  function methods.get(_, name)
    local value, refused = host.get(name)
    if refused then
      error(("cannot transfer '%s' to thread"):format(refused), 2)
    end
    return value
  end

  function methods.set(_, name, value)
    local refused = host.set(name, value)
    if refused then
      error(("cannot transfer '%s' to thread"):format(refused), 2)
    end
  end

  local thread = newproxy(true)
  local meta = getmetatable(thread)

  function meta.__index(_, key)
    if key == "addr" then
      return host.address()
    end
    -- wrk leaves what it does not know where it found it.
    return methods[key] or key
  end

  function meta.__newindex(_, key, value)
    if key ~= "addr" then
      error(("cannot set '%s' on thread"):format(type(value)), 2)
    end
    if not host.go(value) then
      error(("bad argument #4 to '__newindex' (wrk.addr expected, got %s)"):format(type(value)), 2)
    end
  end

  return thread
end
