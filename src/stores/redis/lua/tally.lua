-- tally: counters and the holders of permits. Writes nothing.
-- ARGV   2, 3 … pairs: counter or permit, its name
-- gives  now, and one each, as decimal text

local counts = {now}
for i = 2, #ARGV, 2 do
  if ARGV[i] == 'permit' then
    counts[#counts + 1] = text(redis.call('ZCOUNT', P .. 'permit:' .. ARGV[i + 1], '(' .. text(now), '+inf'))
  else
    counts[#counts + 1] = redis.call('HGET', P .. 'counters', ARGV[i + 1]) or '0'
  end
end
return counts
