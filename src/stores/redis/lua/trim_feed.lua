-- trim_feed: old entries of the feed go; which was the last is kept, so that a reader learns what it missed.
-- ARGV   2 the first entry that stays
-- gives  now

local last = redis.call('XREVRANGE', P .. 'feed', '(' .. ARGV[2], '-', 'COUNT', 1)[1]
if last then
  redis.call('SET', P .. 'trimmed', last[1])
  redis.call('XTRIM', P .. 'feed', 'MINID', ARGV[2])
end
return {now}
