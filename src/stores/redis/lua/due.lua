-- due: the records whose timer has rung, earliest first, each pushed ahead in the same step.
-- ARGV   1 limit (at most 64)   2 push µs
-- gives  array of {ref, header, wake µs, body, outcome}; a timer without a record is taken away

local wake, records = now + tonumber(ARGV[2]), {}
for _, ref in ipairs(redis.call('ZRANGEBYSCORE', P .. 'wake', '-inf', now, 'LIMIT', 0, ARGV[1])) do
  local header = redis.call('HGET', P .. 'h' .. ref, 'h')
  moved.wake[ref] = header and wake
  if header then
    local bodies = redis.call('MGET', P .. 'b' .. ref, P .. 'o' .. ref)
    records[#records + 1] = {ref, header, wake, bodies[1] or '', bodies[2] or ''}
  end
end
flush()
return records
