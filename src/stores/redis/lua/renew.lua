-- renew: extend the leases of tasks, each guarded by its fence only.
-- ARGV   2 … one renewal each, at most 64, as msgpack: id, attempt, epoch, lease µs (0: as its claim was given), progress
--        or false, note or false
-- gives  now, and one each: 0 not held, or {lease until µs, requested: 1 cancel + 2 pause}

local answers = {now}
for i = 2, #ARGV do
  local renewal = {cmsgpack.unpack(ARGV[i])}
  local key = key_of(renewal[1])
  local record = redis.call('HMGET', key, 's', 'a', 'h', 'c')
  local h = record[3] and {cmsgpack.unpack(record[3])}
  if h and HELD[record[1]] and tonumber(record[2]) == renewal[2] and moment(h, EPOCH) == renewal[3] then
    local lease = renewal[4] > 0 and renewal[4] or h[LEASE_GRANTED]
    local lease_until = math.max(moment(h, LEASE_UNTIL), now + lease)
    h[LEASE_UNTIL] = lease_until - h[UPDATED_AT]
    if renewal[5] then h[PROGRESS] = renewal[5] end
    if renewal[6] then h[NOTE] = renewal[6] end
    redis.call('HSET', key, 'h', cmsgpack.pack(unpack(h)))
    move('wake', renewal[1], text(held_until(h, {cmsgpack.unpack(record[4])})))
    answers[i] = {lease_until, h[REQUESTED]}
  else
    answers[i] = 0
  end
end
flush()
return answers
