-- due: the records whose timer has rung, earliest first, each pushed ahead in the same step.
-- ARGV   2 limit (at most 64)   3 push µs
-- gives  now, and one each: {ref, state, attempt, h, c, wake µs, body, outcome}; a timer without a record is taken away

local wake, records = text(now + tonumber(ARGV[3])), {now}
for _, ref in ipairs(redis.call('ZRANGEBYSCORE', P .. 'wake', '-inf', text(now), 'LIMIT', 0, ARGV[2])) do
  local record = read(ref, wake)
  move('wake', ref, record and wake or false)
  records[#records + 1] = record
end
flush()
return records
