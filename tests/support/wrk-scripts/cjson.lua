-- Bodies made and answers read with a module in C.
local cjson = require "cjson"
local number = 0

wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"

request = function()
  number = number + 1
  return wrk.format(nil, "/things", nil, cjson.encode({ number, "x", { a = cjson.null } }))
end

response = function(status, headers, body)
  assert(cjson.decode(body).ok == true)
end
