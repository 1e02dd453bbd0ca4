-- Threads: each gets a number and a name, counts its answers, and is asked for them at the end.
local threads = {}

function setup(thread)
  threads[#threads + 1] = thread
  thread:set("number", #threads)
  thread:set("name", "thread " .. #threads)
  thread:set("is_first", #threads == 1)
  thread:set("nothing", nil)
end

function init(args)
  answers = 0
  seen = number .. name .. tostring(is_first) .. tostring(nothing) .. args[0]:sub(1, 4) .. #args
end

function response(status, headers, body)
  answers = answers + 1
end

function done(summary, latency, requests)
  local sum = 0
  for _, thread in ipairs(threads) do
    sum = sum + thread:get("answers")
    print(thread:get("number"), thread:get("seen"), thread:get("missing"), thread.unknown)
  end
  print(sum == summary.requests)
end
