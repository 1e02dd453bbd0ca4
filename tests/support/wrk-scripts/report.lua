-- A report of one's own at the end, as CSV.
function done(summary, latency, requests)
  io.write("requests,bytes,errors,distinct,p0,unknown,beyond\n")
  local errors = summary.errors
  local all = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  local value, count = latency(#latency + 1)
  io.write(string.format("%d,%d,%d,%s,%s,%s,%d\n", summary.requests, summary.bytes, all,
    tostring(#latency > 0), tostring(latency:percentile(0.001) == latency.min), latency.unknown, value))
  assert(summary.duration > 0 and latency.max >= latency.mean and requests.stdev >= 0)
  assert(latency(1) == latency.min and count == #latency)
end
