-- trim: finished tasks that are old go, with all that is theirs; those that a key still names are put off.
-- ARGV   2 finished before µs   3 limit (at most 64)   4 DLQ stream or ''
-- gives  now, how many were looked at, how many went

local dlq = ARGV[4]

local function erase(id, key, record)
  local c = cmsgpack.unpack(record[3])
  count(c[QUEUE] .. '|' .. c[TYPE], cmsgpack.unpack(record[2])[FINGERPRINT], record[1], -1)
  if dlq ~= '' and record[5] then redis.call('XDEL', dlq, record[5]) end
  move('tasks:' .. record[1], id, false)
  move('wake', id, false)
  move('done', id, false)
  redis.call('DEL', key, key .. ':body', key .. ':outcome', P .. 'log:' .. id)
end

local gone, old = 0, redis.call('ZRANGEBYSCORE', P .. 'done', '-inf', '(' .. ARGV[2], 'LIMIT', 0, ARGV[3])
for _, id in ipairs(old) do
  local key = key_of(id)
  local record = redis.call('HMGET', key, 's', 'h', 'c', 'u', 'd')
  local bound = tonumber(record[4] or 0) * 1000
  if not record[2] or not FINAL[record[1]] then
    move('done', id, false)
  elseif bound > now then
    move('done', id, text(bound))
  else
    erase(id, key, record)
    gone = gone + 1
  end
end
flush()
return {now, #old, gone}
