-- leave: an instance is gone.
-- KEYS   1 alive   zset  {p:c}:alive   instance by expiry, ms
-- ARGV   1 instance   2 instances  hash  {p:c}:instances   JSON by instance
redis.call('ZREM', KEYS[1], ARGV[1])
return redis.call('HDEL', ARGV[2], ARGV[1])
