-- oldest: since when the one waits that came first, queue by queue. Writes nothing.
-- ARGV   2 how many lanes of a queue to look at, those that are next in turn   3 … names of queues
-- gives  now, and of each queue µs, 0: no lane has one

local most = tonumber(ARGV[2])

-- Of those that were never handed out: their id tells when, to the millisecond.
local function new_since(key)
  if redis.call('EXISTS', key) == 0 then return end
  local group, last = redis.call('XINFO', 'GROUPS', key)[1] or {}, '0'
  for i = 1, #group, 2 do
    if group[i] == 'last-delivered-id' then last = group[i + 1] end
  end
  local head = redis.call('XRANGE', key, '(' .. last, '+', 'COUNT', 1)[1]
  return head and tonumber(string.match(head[1], '^%d+')) * 1000
end

-- Of those that are to be handed out again.
local function kept_since(lane)
  return tonumber(redis.call('ZRANGE', P .. 'again:' .. lane, 0, 0, 'WITHSCORES')[2])
end

local answer = {now}
for i = 3, #ARGV do
  local oldest
  for _, lane in ipairs(redis.call('ZRANGE', P .. 'lanes:' .. ARGV[i], 0, most - 1)) do
    for _, since in pairs({new_since(P .. 'lane:' .. lane) or false, kept_since(lane) or false}) do
      if since and (not oldest or since < oldest) then oldest = since end
    end
  end
  answer[#answer + 1] = text(oldest or 0)
end
return answer
