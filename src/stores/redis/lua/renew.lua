-- renew: extend the leases of tasks, each guarded by its fence only.
-- ARGV   1 renewals as msgpack, at most 64: {ref, attempt, epoch, lease µs (0: as its claim was given), progress or false,
--        note or false}
-- gives  one each: 0 not held, or {lease until µs, requested: 1 cancel + 2 pause}

local answers = {}
for i, renewal in ipairs(cmsgpack.unpack(ARGV[1])) do
  local key = P .. 'h' .. renewal[1]
  local header = redis.call('HGET', key, 'h')
  local h = header and cmsgpack.unpack(header)
  if h and is_held(h[STATE]) and h[ATTEMPT] == renewal[2] and h[EPOCH] == renewal[3] then
    local lease = renewal[4] > 0 and renewal[4] or h[LEASE_GRANTED]
    h[LEASE_UNTIL] = math.max(h[LEASE_UNTIL], now + lease)
    if renewal[5] then h[PROGRESS] = renewal[5] end
    if renewal[6] then h[NOTE] = renewal[6] end
    redis.call('HSET', key, 'h', cmsgpack.pack(h))
    moved.wake[renewal[1]] = held_until(h)
    answers[i] = {h[LEASE_UNTIL], h[REQUESTED]}
  else
    answers[i] = 0
  end
end
flush()
return answers
