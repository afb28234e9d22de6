-- trim: finished tasks that are old go, with all that is theirs; those that a key still names are put off.
-- ARGV   2 finished before µs   3 limit (at most 64)   4 DLQ stream or ''
-- gives  now, how many went, 1 if there may be more

local before, limit, dlq = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local gone = 0

local function erase(id, key, record)
  local c = {cmsgpack.unpack(record[3])}
  count(c[QUEUE] .. '|' .. c[TYPE], ({cmsgpack.unpack(record[2])})[FINGERPRINT], record[1], -1)
  if dlq ~= '' and record[5] then redis.call('XDEL', dlq, record[5]) end
  move('tasks:' .. record[1], id, false)
  redis.call('DEL', key, key .. ':body', key .. ':outcome', P .. 'log:' .. id)
  gone = gone + 1
end

-- Until the key is over.
local function consider(id)
  local key = key_of(id)
  local record = redis.call('HMGET', key, 's', 'h', 'c', 'u', 'd')
  if not record[2] or not FINAL[record[1]] then return redis.call('ZREM', P .. 'put_off', id) end
  local bound = tonumber(record[4] or 0) * 1000
  if bound > now then return redis.call('ZADD', P .. 'put_off', text(bound), id) end
  redis.call('ZREM', P .. 'put_off', id)
  erase(id, key, record)
end

local over = redis.call('ZRANGEBYSCORE', P .. 'put_off', '-inf', text(now), 'LIMIT', 0, limit)
for _, id in ipairs(over) do consider(id) end

-- An entry goes when all of its tasks have been looked at; until then those that are gone are passed over.
local looked, more = #over, #over == limit
while not more do
  local entry = redis.call('XRANGE', P .. 'done', '-', '+', 'COUNT', 1)[1]
  if not entry or tonumber(string.match(entry[1], '^%d+')) >= math.floor(before / 1000) then break end
  local ids, whole = entry[2][2], true
  for at = 1, #ids, 36 do
    local id = string.sub(ids, at, at + 35)
    if not redis.call('ZSCORE', P .. 'put_off', id) then
      if looked >= limit then
        more, whole = true, false
        break
      end
      if redis.call('EXISTS', key_of(id)) == 1 then
        consider(id)
        looked = looked + 1
      end
    end
  end
  if whole then redis.call('XDEL', P .. 'done', entry[1]) end
end
flush()
return {now, gone, more and 1 or 0}
