-- A delay before each request.
local times = 0

function delay()
  times = times + 1
  return times == 1 and 0 or 100.9
end
