-- rung: the moments at which timers rang here, earliest first. Writes nothing.
-- ARGV   2 limit
-- gives  now, and one score each

local rung, scores = redis.call('ZRANGEBYSCORE', P .. 'wake', '-inf', text(now), 'WITHSCORES', 'LIMIT', 0, ARGV[2]), {now}
for i = 2, #rung, 2 do scores[#scores + 1] = rung[i] end
return scores
