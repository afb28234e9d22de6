-- load: records by their refs. Writes nothing.
-- ARGV   2 … refs, at most 64
-- gives  now, and one each: {ref, state, attempt, h, c, wake µs, body, outcome}, or 0 for what does not exist

local records = {now}
local wakes = redis.call('ZMSCORE', P .. 'wake', unpack(ARGV, 2))
for i = 2, #ARGV do
  local key = key_of(ARGV[i])
  local record = redis.call('HMGET', key, 's', 'a', 'h', 'c', 'b', 'o')
  if record[3] then
    records[i] = {ARGV[i], record[1], record[2], record[3], record[4], wakes[i - 1] or '0', body_of(key, record[5]),
                  outcome_of(key, record[6])}
  else
    records[i] = 0
  end
end
return records
