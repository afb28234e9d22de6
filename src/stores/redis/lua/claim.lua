-- claim: hand out up to `max` tasks of the queues to `worker`, stamping each in the same step.
-- ARGV   1 worker   2 state to stamp   3 lease µs, 0: the task's own   4 default lease µs   5 max (at most 64)
--        6 consumer   7 queues as msgpack: {name, types or false, max, concurrency (0: no limit), its permit}
-- gives  array of {ref, header, wake µs, body, outcome}
-- order  queue by queue as given (the caller turns them); in a queue the best priority first, the lanes of one priority
--        in turn; one lane per XREADGROUP, because its COUNT is per stream.
--        An entry that is no longer its task's own is dropped, a missing record's never.

local worker, to, lease, default_lease = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local left, consumer = tonumber(ARGV[5]), ARGV[6]
local claimed = {}

-- domain::stamp_claim(), line by line.
local function stamp(h, takes_gate, takes_queue_permit)
  local given = lease > 0 and lease or h[LEASE] > 0 and h[LEASE] or default_lease
  h[STATE] = to
  h[VERSION] = h[VERSION] + 1
  h[ATTEMPT] = h[ATTEMPT] + 1
  h[EPOCH] = math.max(h[EPOCH] + 1, now)
  h[LEASE_GRANTED] = given
  h[LEASE_UNTIL] = now + given
  h[WORKER] = worker
  h[UPDATED_AT] = now
  if to == RUNNING then h[STARTED_AT] = now end
  h[DUE_AT] = 0
  h[ENDED_BY] = 0
  h[PROGRESS] = -1
  h[HOLDS] = (takes_gate and 1 or 0) + (takes_queue_permit and 2 or 0)
  h[NONCE] = ''
  return held_until(h)
end

-- Gives whether the task was handed out.
local function hand_out(queue, lane, entry, ref)
  local key = P .. 'h' .. ref
  local stored = redis.call('HMGET', key, 'h', 'x')
  if not stored[1] then return false end
  local h = cmsgpack.unpack(stored[1])
  if stored[2] ~= entry or h[STATE] ~= QUEUED then
    drop(lane, entry)
    return false
  end
  local takes_gate, takes_queue_permit = h[GATE] ~= '' and h[GATE_LIMIT] > 0, queue.concurrency > 0
  local family, wake = h[QUEUE] .. '|' .. h[TYPE], stamp(h, takes_gate, takes_queue_permit)
  count(family, h[FINGERPRINT], QUEUED, -1)
  count(family, h[FINGERPRINT], to, 1)
  if takes_gate or takes_queue_permit then
    local holder = string.sub(ref, 3) .. ':' .. string.format('%.0f', h[EPOCH])
    if takes_gate then acquire(h[GATE], holder, '+inf') end
    if takes_queue_permit then acquire(queue.permit, holder, '+inf') end
  end
  local header = cmsgpack.pack(h)
  moved.wake[ref] = wake
  feed[#feed + 1] = {ref, h[VERSION], to, h[ATTEMPT], now, h[QUEUE], h[TYPE], h[TENANT]}
  redis.call('HSET', key, 'h', header, h[VERSION], cmsgpack.pack({to, h[ATTEMPT], now, worker}))
  local bodies = redis.call('MGET', P .. 'b' .. ref, P .. 'o' .. ref)
  claimed[#claimed + 1] = {ref, header, wake, bodies[1] or '', bodies[2] or ''}
  return true
end

-- ---- gates ----

-- The limit that the first task of a lane sets to its gate; nil: there is no task.
local function limit_of(lane)
  local key = P .. 'lane:' .. lane
  if redis.call('EXISTS', key) == 0 then return nil end
  local group, last = redis.call('XINFO', 'GROUPS', key)[1], '0'
  for i = 1, #group, 2 do
    if group[i] == 'last-delivered-id' then last = group[i + 1] end
  end
  local head = redis.call('XRANGE', key, '(' .. last, '+', 'COUNT', 1)[1]
  return head and tonumber(head[2][4] or 0)
end

-- Out of the sight of claims until a permit of the gate comes back, or one expires.
local function shut(queue, lane, gate)
  redis.call('ZREM', P .. 'lanes:' .. queue.name, lane)
  redis.call('SADD', P .. 'shut:' .. gate, lane)
  local first = redis.call('ZRANGE', P .. 'permit:' .. gate, after_now, '(+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  if first[1] then redis.call('ZADD', P .. 'looks', 'LT', first[2], gate) end
end

local function open_lapsed()
  local gates = redis.call('ZRANGEBYSCORE', P .. 'looks', '-inf', now)
  for _, gate in ipairs(gates) do open(gate) end
  if gates[1] then redis.call('ZREM', P .. 'looks', unpack(gates)) end
end

-- ---- turns ----

-- Serves one lane up to n tasks. Gives whether it may have more for this call.
local function serve(place, n)
  local queue, lane = place.queue, place.lane
  n = math.min(n, left, queue.room)
  if n <= 0 then return false end
  if place.gate ~= '' then
    local limit = limit_of(lane)
    if limit and limit > 0 and held(place.gate) >= limit then
      shut(queue, lane, place.gate)
      return false
    end
    n = limit and 1 or 0
  end
  local entries = n > 0 and take(lane, n, consumer) or {}
  for _, entry in ipairs(entries) do
    if hand_out(queue, lane, entry[1], entry[2][2]) then
      left = left - 1
      queue.room = queue.room - 1
    end
  end
  if n == 0 or #entries < n then
    redis.call('ZREM', P .. 'lanes:' .. queue.name, lane)
    return false
  end
  return true
end

-- Lanes of one priority in turn, one task each: round after round if these are all there are, else one round. A lane that
-- is alone gives all it has. Whoever was served goes behind those who were not.
local function serve_in_turn(lanes, is_all)
  local alone, served = is_all and #lanes == 1, {}
  while lanes[1] and left > 0 do
    local place = table.remove(lanes, 1)
    if serve(place, alone and left or 1) then
      if is_all then lanes[#lanes + 1] = place end
      if place.at then served[place.at] = false end
      place.at = #served + 1
      served[place.at] = place
    end
  end
  if alone then return end
  for _, place in ipairs(served) do
    if place then
      local score = (9 - place.priority) * 1e13 + redis.call('INCR', P .. 'turn')
      redis.call('ZADD', P .. 'lanes:' .. place.queue.name, 'XX', score, place.lane)
    end
  end
end

local function wants(types, type)
  if not types then return true end
  for _, wanted in ipairs(types) do
    if wanted == type then return true end
  end
  return false
end

-- The next lanes of the best priority there is, behind `skip` that are not wanted. Gives them, whether these are all of
-- their priority, and how many to skip now.
local WINDOW = 64
local function next_lanes(queue, skip)
  local lanes = {}
  local window = redis.call('ZRANGE', P .. 'lanes:' .. queue.name, skip, skip + WINDOW - 1)
  for _, lane in ipairs(window) do
    local type, priority, gate = string.match(lane, '^[^|]*|([^|]*)|(%d)|(.*)$')
    if lanes[1] and tonumber(priority) ~= lanes[1].priority then return lanes, true, skip end
    if wants(queue.types, type) then
      lanes[#lanes + 1] = {queue = queue, lane = lane, priority = tonumber(priority), gate = gate}
    else
      skip = skip + 1
    end
  end
  return lanes, #window < WINDOW, skip
end

local function serve_queue(queue)
  if queue.concurrency > 0 then queue.room = math.min(queue.room, queue.concurrency - held(queue.permit)) end
  local skip, lanes, is_all = 0, nil, nil
  while left > 0 and queue.room > 0 do
    lanes, is_all, skip = next_lanes(queue, skip)
    if not lanes[1] and is_all then return end
    serve_in_turn(lanes, is_all)
  end
end

open_lapsed()
for _, asked in ipairs(cmsgpack.unpack(ARGV[7])) do
  if left == 0 then break end
  serve_queue({name = asked[1], types = asked[2], room = asked[3], concurrency = asked[4], permit = asked[5]})
end
flush()
return claimed
