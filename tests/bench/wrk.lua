-- Sends one kind of request. Arguments: method, path, API key, seed, a file of values and optionally the body. A random
-- line of the file replaces {1}, {2} … in path and body by its words.

local path, body
local rows = {}

function init(args)
  wrk.method = args[1]
  path = args[2]
  wrk.headers["x-api-key"] = args[3]
  math.randomseed(tonumber(args[4]))
  for line in io.lines(args[5]) do
    local row, words = {}, 0
    for word in line:gmatch("%S+") do
      words = words + 1
      row[tostring(words)] = word
    end
    rows[#rows + 1] = row
  end
  body = args[6]
  if body then wrk.headers["content-type"] = "application/json" end
end

function request()
  local row = rows[math.random(#rows)]
  return wrk.format(nil, path:gsub("{(%d)}", row), nil, body and body:gsub("{(%d)}", row))
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"count":%d,"rate":%f,"p50":%f,"p99":%f,"max":%f,"failed":%d}\n',
    summary.requests, summary.requests * 1e6 / summary.duration, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout
  ))
end
