-- Pipelining: three requests at once, made before the test.
local batch

init = function(args)
  local parts = {}
  for i = 1, 3 do
    parts[i] = wrk.format(nil, "/part" .. i .. (args[1] or ""))
  end
  batch = table.concat(parts)
end

request = function()
  return batch
end
