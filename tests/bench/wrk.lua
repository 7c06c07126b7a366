-- Sends one kind of request. Arguments: method, path, API key, the range of numbers for "{n}" in path and body
-- (first and last, one at random for each request), seed, and optionally the body.

local path, body, first, last

function init(args)
  wrk.method = args[1]
  path = args[2]
  wrk.headers["x-api-key"] = args[3]
  first, last = tonumber(args[4]), tonumber(args[5])
  math.randomseed(tonumber(args[6]))
  body = args[7]
  if body then wrk.headers["content-type"] = "application/json" end
end

function request()
  local number = tostring(math.random(first, last))
  return wrk.format(nil, path:gsub("{n}", number), nil, body and body:gsub("{n}", number))
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"rate":%f,"p50":%f,"p99":%f,"max":%f,"failed":%d}\n',
    summary.requests, summary.requests * 1e6 / summary.duration, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout
  ))
end
