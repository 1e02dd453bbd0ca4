-- A counter: each request differs from the one before.
local count = 0

request = function()
  count = count + 1
  wrk.headers["X-Count"] = count
  return wrk.format(nil, "/item/" .. count)
end
