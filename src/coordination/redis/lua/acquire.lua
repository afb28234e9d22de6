-- acquire: one of `capacity` permits of a lock, if one is free. Those whose time is over are thrown out first, in the
-- same step as counting and adding.
-- KEYS   1 lock   zset  {p:c}:lock:<key>   token by expiry, ms
-- ARGV   1 token   2 ttl_ms   3 capacity   4 fence  string  {p:c}:fence   the last one that was given
-- gives  {fence, expiry_ms}, or nothing: all are taken
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return false end
-- Never one that was given before, also when the last ones were lost with a server: time has gone on since.
local micros = time[1] * 1000000 + time[2]
local fence = math.max(tonumber(redis.call('GET', ARGV[4]) or '0') + 1, micros)
local expiry = now + tonumber(ARGV[2])
redis.call('SET', ARGV[4], string.format('%.0f', fence))
redis.call('ZADD', KEYS[1], string.format('%.0f', expiry), ARGV[1])
local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
redis.call('PEXPIREAT', KEYS[1], last[2])
return {fence, expiry}
