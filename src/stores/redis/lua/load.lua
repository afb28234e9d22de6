-- load: records by their refs. Writes nothing.
-- ARGV   2 … refs, at most 64
-- gives  now, and one each: {ref, state, attempt, h, c, wake µs, body, outcome}, or 0 for what does not exist

local records = {now}
local wakes = redis.call('ZMSCORE', P .. 'wake', unpack(ARGV, 2))
for i = 2, #ARGV do records[i] = read(ARGV[i], wakes[i - 1] or '0') or 0 end
return records
