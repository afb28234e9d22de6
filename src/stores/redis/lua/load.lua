-- load: records by their refs. Writes nothing.
-- ARGV   refs, at most 64
-- gives  one each: {ref, header, wake µs, body, outcome}, or 0 for what does not exist

local records = {}
local wakes = redis.call('ZMSCORE', P .. 'wake', unpack(ARGV))
for i, ref in ipairs(ARGV) do
  local header = redis.call('HGET', P .. 'h' .. ref, 'h')
  if header then
    local bodies = redis.call('MGET', P .. 'b' .. ref, P .. 'o' .. ref)
    records[i] = {ref, header, tonumber(wakes[i] or 0), bodies[1] or '', bodies[2] or ''}
  else
    records[i] = 0
  end
end
return records
