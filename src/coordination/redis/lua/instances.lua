-- instances: those whose time is not over; the others are thrown out.
-- KEYS   1 alive   zset  {p:c}:alive   instance by expiry, ms
-- ARGV   1 most (at most 1000)   2 instances  hash  {p:c}:instances   JSON by instance
-- gives  array of instance, expiry_ms, JSON in turn
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])) do
    redis.call('HDEL', ARGV[2], gone)
    redis.call('ZREM', KEYS[1], gone)
end
local found = {}
local alive = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[1])
for i = 1, #alive, 2 do
    found[#found + 1] = alive[i]
    found[#found + 1] = alive[i + 1]
    found[#found + 1] = redis.call('HGET', ARGV[2], alive[i]) or ''
end
return found
