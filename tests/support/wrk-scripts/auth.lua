-- Authentication: the first answer holds a token, which all later requests send.
local token
local path = "/login"

function request()
  return wrk.format("GET", path)
end

function response(status, headers, body)
  if not token and status == 200 then
    token = headers["X-Token"]
    path = "/inside"
    wrk.headers["X-Token"] = token
  end
end
