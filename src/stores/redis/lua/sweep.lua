-- sweep: tasks of one state are where their headers say; what a half-run script or a lost write left is mended.
-- ARGV   2 state   3 cursor, '0' at the beginning   4 about how many to look at   5 idle µs of kept entries
-- gives  now, the next cursor ('0': that was all), how many were mended

local state, idle = ARGV[2], tonumber(ARGV[5])
local mended = 0

-- The last entry of a lane that was handed out.
local delivered = {}
local function last_delivered(lane)
  local last = delivered[lane]
  if last then return last end
  last = {0, 0}
  local key = P .. 'lane:' .. lane
  local group = redis.call('EXISTS', key) == 1 and redis.call('XINFO', 'GROUPS', key)[1] or {}
  for i = 1, #group, 2 do
    if group[i] == 'last-delivered-id' then
      local ms, number = string.match(group[i + 1], '^(%d+)-(%d+)$')
      last = {tonumber(ms), tonumber(number)}
    end
  end
  delivered[lane] = last
  return last
end

local function is_delivered(lane, entry)
  local last, ms, number = last_delivered(lane), string.match(entry, '^(%d+)-(%d+)$')
  ms, number = tonumber(ms), tonumber(number)
  return ms < last[1] or ms == last[1] and number <= last[2]
end

-- A queued task must have an entry that a claim will find.
local function mend_queued(id, key, c, entry)
  local lane = lane_of(c)
  if entry and string.sub(entry, 1, 1) == '~' then
    if redis.call('ZSCORE', P .. 'again:' .. lane, id) then return 0 end
    if redis.call('XRANGE', P .. 'lane:' .. lane, string.sub(entry, 2), string.sub(entry, 2))[1] then
      push_again(lane, id, string.sub(entry, 2), idle)
      return 1
    end
  elseif entry and entry ~= '' then
    if redis.call('XRANGE', P .. 'lane:' .. lane, entry, entry)[1] and not is_delivered(lane, entry) then
      show(lane)
      return 0
    end
    drop(lane, entry)
  end
  redis.call('HSET', key, 'x', push(lane, id, c[GATE_LIMIT]))
  return 1
end

-- Any other that is not over has a timer, unless a person has it.
local function mend_timer(id, h, c)
  if state == 'paused' or state == 'suspended' or FINAL[state] or redis.call('ZSCORE', P .. 'wake', id) then return 0 end
  local wake = HELD[state] and held_until(h, c) or moment(h, DUE_AT)
  if c[DEADLINE] > 0 and (wake == 0 or c[DEADLINE] < wake) then wake = c[DEADLINE] end
  move('wake', id, text(wake > 0 and wake or now))
  return 1
end

local function mend(id)
  local key = key_of(id)
  local record = redis.call('HMGET', key, 's', 'h', 'c', 'x')
  if not record[2] then
    move('tasks:' .. state, id, false)
    return 1
  end
  local h, c = {cmsgpack.unpack(record[2])}, {cmsgpack.unpack(record[3])}
  if record[1] ~= state then
    move('tasks:' .. state, id, false)
    move('tasks:' .. record[1], id, c[CREATED_AT])
    if FINAL[record[1]] then finished[#finished + 1] = id end
    return 1
  end
  if state == 'queued' then return mend_queued(id, key, c, record[4]) end
  return mend_timer(id, h, c)
end

local scanned = redis.call('ZSCAN', P .. 'tasks:' .. state, ARGV[3], 'COUNT', ARGV[4])
for i = 1, #scanned[2], 2 do mended = mended + mend(scanned[2][i]) end
flush()
return {now, scanned[1], mended}
