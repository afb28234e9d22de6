-- release: the lock, by the token that holds it.
-- KEYS   1 lock   zset  {p:c}:lock:<key>   token by expiry, ms
-- ARGV   1 token
-- gives  1, or 0: it did not hold it any more
local time = redis.call('TIME')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', time[1] * 1000 + math.floor(time[2] / 1000))
return redis.call('ZREM', KEYS[1], ARGV[1])
