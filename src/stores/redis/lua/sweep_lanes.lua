-- sweep_lanes: pending entries that are nobody's are dropped: of a record that is missing, or that names another entry.
-- ARGV   2 lane   3 the entry to begin behind, '-': the first   4 how many to look at   5 µs: a missing record may still
--        come for so long
-- gives  now, the last entry that was looked at ('': that was all), how many were dropped

local lane, from, most = ARGV[2], ARGV[3], tonumber(ARGV[4])
local key, mended = P .. 'lane:' .. lane, 0
if redis.call('EXISTS', key) == 0 then
  redis.call('SREM', P .. 'streams', lane)
  return {now, '', 0}
end

local function is_orphan(id)
  local entry = redis.call('XRANGE', key, id, id)[1]
  if not entry then return true end
  local named = redis.call('HMGET', key_of(entry[2][2]), 'h', 'x')
  if not named[1] then return tonumber(string.match(id, '^%d+')) * 1000 + tonumber(ARGV[5]) < now end
  return named[2] ~= id and named[2] ~= '~' .. id
end

local pending = redis.call('XPENDING', key, 'workers', from == '-' and '-' or '(' .. from, '+', most)
for _, entry in ipairs(pending) do
  if is_orphan(entry[1]) then
    drop(lane, entry[1])
    mended = mended + 1
  end
end
local last = #pending == most and pending[most][1] or ''
flush()
return {now, last, mended}
