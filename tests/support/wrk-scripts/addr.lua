-- Several addresses: each thread takes one of those that accept a connection.
local open = {}

function setup(thread)
  if #open == 0 then
    for _, addr in ipairs(wrk.lookup(wrk.host, wrk.port or "http")) do
      if wrk.connect(addr) then
        open[#open + 1] = addr
      end
    end
  end
  thread.addr = open[1]
  print("goes to " .. wrk.host .. (tostring(thread.addr):gsub("%d+$", "PORT")))
end
