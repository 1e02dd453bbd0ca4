-- The shape of scripts for sets of services: a clock out of a module in C, and a mix drawn by shares.
local socket = require("socket")

math.randomseed(42)
math.random()
local started = socket.gettime()

local function get_user()
  local id = math.random(0, 500)
  local password = ""
  for _ = 0, 9, 1 do
    password = password .. tostring(id)
  end
  return "user_" .. tostring(id), password
end

local function search()
  local day = math.random(9, 23)
  local into, out = "2015-04-" .. string.format("%02d", day), "2015-04-24"
  local lat = 38.0235 + (math.random(0, 481) - 240.5) / 1000.0
  return wrk.format("GET", "/hotels?inDate=" .. into .. "&outDate=" .. out .. "&lat=" .. tostring(lat), {}, nil)
end

local function log_in()
  local user, password = get_user()
  return wrk.format("POST", "/user?username=" .. user .. "&password=" .. password, {}, nil)
end

request = function()
  assert(socket.gettime() >= started)
  if math.random() < 0.6 then
    return search()
  end
  return log_in()
end
