-- Counts answers in slices of two kinds: plain ones, and ones in which each answer costs this client more time.
-- Arguments: the extra cost in ns, the length of a slice in ms, the server's core. One thread.
local ffi = require("ffi")
ffi.cdef("typedef struct { long s; long ns; } bench_time; int clock_gettime(int, bench_time *);")
local clock = ffi.new("bench_time")
local threads = {}

local function now()
   ffi.C.clock_gettime(1, clock)
   return tonumber(clock.s) * 1e9 + tonumber(clock.ns)
end

-- The busy and all ticks of the server's core since the machine began.
local function ticks()
   for line in io.lines("/proc/stat") do
      local rest = line:match("^cpu" .. core .. " (.*)")
      if rest then
         local all, idle, place = 0, 0, 0
         for number in rest:gmatch("%d+") do
            place = place + 1
            if place <= 8 then all = all + tonumber(number) end
            if place == 4 or place == 5 then idle = idle + tonumber(number) end
         end
         return all - idle, all
      end
   end
end

function setup(thread) table.insert(threads, thread) end

function init(args)
   burn, slice, core = tonumber(args[1]), tonumber(args[2]) * 1e6, args[3]
   answers, spent, busy, all = {0, 0}, {0, 0}, {0, 0}, {0, 0}
   kind, began = 1, now()
   busy_before, all_before = ticks()
   result = ""
end

local function change(at)
   local busy_now, all_now = ticks()
   spent[kind] = spent[kind] + at - began
   busy[kind] = busy[kind] + busy_now - busy_before
   all[kind] = all[kind] + all_now - all_before
   busy_before, all_before = busy_now, all_now
   kind, began = 3 - kind, at
   result = string.format("%d %.0f %d %d %d %.0f %d %d",
      answers[1], spent[1], busy[1], all[1], answers[2], spent[2], busy[2], all[2])
end

function response()
   local at = now()
   if at - began >= slice then change(at) end
   answers[kind] = answers[kind] + 1
   if kind == 2 then repeat until now() - at >= burn end
end

function done() print("slices " .. threads[1]:get("result")) end
