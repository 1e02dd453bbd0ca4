-- The table `wrk` as scripts find it. The program has put into it where the test goes (scheme, host,
-- port, path), the header fields of the command line, and the functions lookup and connect.
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
