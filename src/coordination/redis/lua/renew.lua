-- renew: more time for a token that holds the lock and whose time is not over. Never less.
-- KEYS   1 lock   zset  {p:c}:lock:<key>   token by expiry, ms
-- ARGV   1 token   2 ttl_ms
-- gives  expiry_ms, or nothing: it does not hold it any more, and nothing was written
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or '0')
if held <= now then return false end
local expiry = math.max(held, now + tonumber(ARGV[2]))
redis.call('ZADD', KEYS[1], string.format('%.0f', expiry), ARGV[1])
local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
redis.call('PEXPIREAT', KEYS[1], last[2])
return expiry
