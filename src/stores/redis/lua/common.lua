-- common: the beginning of every script (put before each when it is loaded).
-- KEYS   1 prefix  "{p0}:", the partition's hash tag: every key of a script begins with it, so all are in one slot
--
-- A record is named by its ref, "<kind>:<id>". What there is, each under the prefix:
--   h<ref>           hash    h header (msgpack, fields below)  x its entry in the lane's stream or ''  1, 2 … history by version
--   b<ref> o<ref>    string  body, outcome
--   g:<owner>        hash    <log>\0<key> → <number>:<bytes>
--   lane:<lane>      stream  claimable and held tasks, group w; a lane is <queue>|<type>|<priority>|<gate>
--   lanes:<queue>    zset    the lanes that have something to claim, by priority, then by turn
--   shut:<gate>      set     the lanes that found their gate full: opened again when a permit comes back
--   looks            zset    gates in front of which a lane waits for a permit to expire, by that moment
--   permit:<key>     zset    <holder>:<epoch> by the moment it expires, +inf: never
--   wake             zset    refs by the moment their timer rings, µs
--   parked done      zset    refs of tasks that wait for a person, and of finished ones, by time
--   counts failures  hash    <queue>|<type>|<state> → n   <fingerprint>|<state> → n
--   counters         hash    name → n
--   bind:<scope>\0<key>  string  id and hash, with a ttl
--   feed             stream  one entry per script: e → the events of all that it committed
--   turn             string  the number of turns taken so far
local P = KEYS[1]

-- The header. A claim stamps the first fourteen; the rest is written by commit and renew only.
local VERSION, STATE, ATTEMPT, EPOCH, LEASE_GRANTED, LEASE_UNTIL, WORKER = 1, 2, 3, 4, 5, 6, 7
local UPDATED_AT, STARTED_AT, DUE_AT, ENDED_BY, PROGRESS, HOLDS, NONCE = 8, 9, 10, 11, 12, 13, 14
local QUEUE, TYPE, TENANT, PRIORITY, BY_TYPE, GATE, GATE_LIMIT = 15, 16, 17, 18, 19, 20, 21
local LEASE, DEADLINE, FINGERPRINT, REQUESTED, NOTE = 22, 23, 24, 25, 26

local QUEUED, DISPATCHED, RUNNING, PAUSED, SUSPENDED, SUCCEEDED = 2, 3, 5, 7, 8, 9
local function is_held(state) return state >= DISPATCHED and state <= RUNNING end

-- domain::wake_for() of a held task.
local function held_until(h)
  return h[DEADLINE] > 0 and math.min(h[LEASE_UNTIL], h[DEADLINE]) or h[LEASE_UNTIL]
end

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local after_now = '(' .. string.format('%.0f', now)  -- Lua's own conversion would round it

-- What commutes is gathered here and written by flush(), once per script and not once per task.
local counted = {counts = {}, failures = {}}
local moved = {wake = {}, parked = {}, done = {}}
local dropped, feed = {}, {}

local function count(family, fingerprint, state, by)
  local field = family .. '|' .. state
  counted.counts[field] = (counted.counts[field] or 0) + by
  if fingerprint ~= '' then
    field = fingerprint .. '|' .. state
    counted.failures[field] = (counted.failures[field] or 0) + by
  end
end

-- ---- lanes: push, take, drop. Nothing else knows that they are streams. ----

local function lane_of(h)
  local type = h[BY_TYPE] == 1 and h[TYPE] or ''
  return h[QUEUE] .. '|' .. type .. '|' .. h[PRIORITY] .. '|' .. h[GATE]
end

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
    if redis.call('EXISTS', key) == 0 then redis.call('XGROUP', 'CREATE', key, 'w', '0', 'MKSTREAM') end
    show(lane)
  end
  if limit > 0 then return redis.call('XADD', key, '*', 'i', ref, 'g', limit) end
  return redis.call('XADD', key, '*', 'i', ref)
end

-- Up to n entries, first in, first out; fewer: the lane has no more.
local function take(lane, n, consumer)
  local got = redis.call('XREADGROUP', 'GROUP', 'w', consumer, 'COUNT', n, 'STREAMS', P .. 'lane:' .. lane, '>')
  return got and got[1][2] or {}
end

local function drop(lane, entry)
  local entries = dropped[lane]
  if entries then entries[#entries + 1] = entry else dropped[lane] = {entry} end
end

-- ---- permits ----

local function held(permit) return redis.call('ZCOUNT', P .. 'permit:' .. permit, after_now, '+inf') end

local function acquire(permit, holder, expiry)
  redis.call('ZREMRANGEBYSCORE', P .. 'permit:' .. permit, '-inf', now)
  redis.call('ZADD', P .. 'permit:' .. permit, 'NX', expiry, holder)
end

-- A permit of this gate may be had again: the lanes that wait for one are shown to claims.
local function open(gate)
  for _, lane in ipairs(redis.call('SMEMBERS', P .. 'shut:' .. gate)) do show(lane) end
  redis.call('DEL', P .. 'shut:' .. gate)
end

-- ---- flush ----

local function flush_moves(key, moves)
  local adds, removals = {}, {}
  for ref, score in pairs(moves) do
    if score then
      adds[#adds + 1] = score
      adds[#adds + 1] = ref
    else
      removals[#removals + 1] = ref
    end
  end
  if adds[1] then redis.call('ZADD', key, unpack(adds)) end
  if removals[1] then redis.call('ZREM', key, unpack(removals)) end
end

-- XACK and XDEL together. A lane with a gate vanishes with its last task: there may be a gate per user.
local function flush_drops(lane, entries)
  local key = P .. 'lane:' .. lane
  redis.call('XACK', key, 'w', unpack(entries))
  redis.call('XDEL', key, unpack(entries))
  local queue, gate = string.match(lane, '^([^|]*)|[^|]*|%d|(.*)$')
  if gate ~= '' and redis.call('XLEN', key) == 0 then
    redis.call('DEL', key)
    redis.call('ZREM', P .. 'lanes:' .. queue, lane)
  end
end

local function flush()
  for key, moves in pairs(moved) do
    if next(moves) then flush_moves(P .. key, moves) end
  end
  for key, fields in pairs(counted) do
    for field, by in pairs(fields) do
      if by ~= 0 and redis.call('HINCRBY', P .. key, field, by) == 0 then redis.call('HDEL', P .. key, field) end
    end
  end
  if feed[1] then redis.call('XADD', P .. 'feed', '*', 'e', cmsgpack.pack(feed)) end
  for lane, entries in pairs(dropped) do flush_drops(lane, entries) end
end
