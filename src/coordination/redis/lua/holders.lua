-- holders: the tokens whose time is not over.
-- KEYS   1 lock   zset  {p:c}:lock:<key>   token by expiry, ms
-- gives  array of tokens
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. string.format('%.0f', now), '+inf')
