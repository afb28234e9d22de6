-- due: the records whose timer has rung, earliest first, each pushed ahead in the same step.
-- ARGV   2 limit (at most 64)   3 push µs
-- gives  now, and one each: {ref, state, attempt, h, c, wake µs, body, outcome}; a timer without a record is taken away

local wake, records = text(now + tonumber(ARGV[3])), {now}
for _, ref in ipairs(redis.call('ZRANGEBYSCORE', P .. 'wake', '-inf', text(now), 'LIMIT', 0, ARGV[2])) do
  local key = key_of(ref)
  local record = redis.call('HMGET', key, 's', 'a', 'h', 'c', 'b', 'o')
  move('wake', ref, record[3] and wake)
  if record[3] then
    records[#records + 1] = {ref, record[1], record[2], record[3], record[4], wake, body_of(key, record[5]),
                             outcome_of(key, record[6])}
  end
end
flush()
return records
