-- lanes: push, take, drop; permits; and what scripts that write gather and write once. Behind record.

-- ---- what commutes is gathered here and written by flush(), once per script and not once per task ----

local counted = {counts = {}, failures = {}}
local adding, removing, dropped, feed, finished = {}, {}, {}, {}, {}

-- Puts a member into a sorted set, or takes it out (score false). Not both in one script: see settle_moves().
local function move(set, member, score)
  local lists = score and adding or removing
  local list = lists[set]
  if not list then
    list = {}
    lists[set] = list
  end
  if score then list[#list + 1] = score end
  list[#list + 1] = member
end

local function add_to(sums, name, state, by)
  local sum = sums[name]
  if not sum then
    sum = {}
    sums[name] = sum
  end
  sum[state] = (sum[state] or 0) + by
end

local function count(family, fingerprint, state, by)
  add_to(counted.counts, family, state, by)
  if fingerprint ~= '' then add_to(counted.failures, fingerprint, state, by) end
end

-- ---- lanes. Nothing else knows that they are streams. ----

-- Shows a lane to claims, at the end of its priority's turn. One that is shown already keeps its place.
local function show(lane)
  local queue, priority = string.match(lane, '^([^|]*)|[^|]*|(%d)')
  local key = P .. 'lanes:' .. queue
  if redis.call('ZSCORE', key, lane) then return end
  redis.call('ZADD', key, (9 - priority) * 1e13 + redis.call('INCR', P .. 'turn'), lane)
end

local shown = {}
local function push(lane, ref, limit)
  local key = P .. 'lane:' .. lane
  if not shown[lane] then
    shown[lane] = true
    if redis.call('EXISTS', key) == 0 then
      redis.call('SADD', P .. 'streams', lane)
      redis.call('XGROUP', 'CREATE', key, 'workers', '0', 'MKSTREAM')
    end
    show(lane)
  end
  if limit > 0 then return redis.call('XADD', key, '*', 'i', ref, 'g', limit) end
  return redis.call('XADD', key, '*', 'i', ref)
end

-- XACK and XDEL together, in flush().
local function drop(lane, entry)
  local entries = dropped[lane]
  if entries then entries[#entries + 1] = entry else dropped[lane] = {entry} end
end

-- A pending entry is to be handed out again, when it has been idle for long enough.
local function push_again(lane, ref, entry, idle)
  local at, key = now, P .. 'lane:' .. lane
  if idle > 0 then
    local pending = redis.call('XPENDING', key, 'workers', entry, entry, 1)[1]
    if pending then at = math.max(now, now + idle - pending[3] * 1000) end
  end
  move('again:' .. lane, ref, text(at))
  if at > now then redis.call('ZADD', P .. 'looks', 'LT', text(at), lane) else show(lane) end
end

-- ---- permits ----

local function held(permit) return redis.call('ZCOUNT', P .. 'permit:' .. permit, '(' .. text(now), '+inf') end

local function acquire(permit, holder, expiry)
  redis.call('ZREMRANGEBYSCORE', P .. 'permit:' .. permit, '-inf', text(now))
  redis.call('ZADD', P .. 'permit:' .. permit, 'NX', expiry, holder)
end

-- A permit of this gate may be had again: the lanes that wait for one are shown to claims.
local function open(gate)
  local lanes = redis.call('SMEMBERS', P .. 'shut:' .. gate)
  if not lanes[1] then return end
  for _, lane in ipairs(lanes) do show(lane) end
  redis.call('DEL', P .. 'shut:' .. gate)
end

-- ---- flush ----

-- A call with any number of arguments: Lua cannot unpack them all at once.
local function call_with(list, command, key, group)
  for first = 1, #list, 1000 do
    local last = math.min(first + 999, #list)
    if group then redis.call(command, key, group, unpack(list, first, last))
    else redis.call(command, key, unpack(list, first, last)) end
  end
end

local function settle_moves()
  for set, list in pairs(adding) do call_with(list, 'ZADD', P .. set) end
  for set, list in pairs(removing) do call_with(list, 'ZREM', P .. set) end
  adding, removing = {}, {}
end

-- A lane with a gate vanishes with its last task: there may be a gate per user.
local function flush_drops(lane, entries)
  local key = P .. 'lane:' .. lane
  call_with(entries, 'XACK', key, 'workers')
  call_with(entries, 'XDEL', key)
  local queue, gate = string.match(lane, '^([^|]*)|[^|]*|%d|(.*)$')
  if gate ~= '' and redis.call('XLEN', key) == 0 then
    redis.call('DEL', key)
    redis.call('ZREM', P .. 'lanes:' .. queue, lane)
    redis.call('ZREM', P .. 'looks', lane)
    redis.call('SREM', P .. 'streams', lane)
  end
end

local function flush()
  settle_moves()
  if finished[1] then redis.call('XADD', P .. 'done', '*', 'i', table.concat(finished)) end
  for name, sums in pairs(counted) do
    for family, states in pairs(sums) do
      for state, by in pairs(states) do
        local field = family .. '|' .. state
        if by ~= 0 and redis.call('HINCRBY', P .. name, field, by) == 0 then redis.call('HDEL', P .. name, field) end
      end
    end
  end
  if feed[1] then redis.call('XADD', P .. 'feed', '*', 'e', cmsgpack.pack(feed)) end
  for lane, entries in pairs(dropped) do flush_drops(lane, entries) end
end
