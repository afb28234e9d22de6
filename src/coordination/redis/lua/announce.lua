-- announce: an instance is there, for so long.
-- KEYS   1 alive   zset  {p:c}:alive   instance by expiry, ms
-- ARGV   1 instance   2 ttl_ms   3 what it says of itself, JSON   4 instances  hash  {p:c}:instances   JSON by instance
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', ARGV[4], ARGV[1], ARGV[3])
redis.call('ZADD', KEYS[1], string.format('%.0f', now + tonumber(ARGV[2])), ARGV[1])
return 1
