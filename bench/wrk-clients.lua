-- Clients take turns: 10,000 addresses, 9 requests each, then the next 10,000. The limiter decides every request and,
-- with 10 in 30 s, refuses none, however fast the server is.
local CLIENTS = 10000
local REQUESTS_EACH = 9

local first_block, before, after
local sent = 0

function init(args)
  first_block = tonumber(args[1])
  wrk.headers['X-Forwarded-For'] = 'ADDRESS'
  before, after = wrk.format('GET'):match('^(.*)ADDRESS(.*)$')
end

function request()
  local block = first_block + math.floor(sent / (CLIENTS * REQUESTS_EACH))
  local host = block * CLIENTS + sent % CLIENTS
  sent = sent + 1
  return before .. '10.' .. math.floor(host / 65536) % 256 .. '.' .. math.floor(host / 256) % 256 .. '.' .. host % 256 .. after
end

function done(summary)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"responses":%d,"refused":%d,"broken":%d}\n',
    summary.requests, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout
  ))
end
