-- ready: whether a claim may find something here. Writes nothing.
-- ARGV   2 … names of queues
-- gives  now, and 1 if one of them shows a lane, or a lane is to be shown again; else 0

if redis.call('ZCOUNT', P .. 'looks', '-inf', text(now)) > 0 then return {now, 1} end
for i = 2, #ARGV do
  if redis.call('EXISTS', P .. 'lanes:' .. ARGV[i]) == 1 then return {now, 1} end
end
return {now, 0}
