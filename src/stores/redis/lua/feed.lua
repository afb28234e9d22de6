-- feed: the entries of the feed from a place on. Writes nothing.
-- ARGV   2 the first entry, or '(' and the one before it; '+': only the last   3 at most so many
-- gives  now, the last entry that was trimmed away ('': none), and one each: {entry, events}

local entries = ARGV[2] == '+' and redis.call('XREVRANGE', P .. 'feed', '+', '-', 'COUNT', 1) or
                redis.call('XRANGE', P .. 'feed', ARGV[2], '+', 'COUNT', ARGV[3])
local answer = {now, redis.call('GET', P .. 'trimmed') or ''}
for i, entry in ipairs(entries) do answer[i + 2] = {entry[1], entry[2][2]} end
return answer
