-- claim: hand out tasks of the queues to workers, stamping each in the same step.
-- ARGV   2 consumer   3 default lease µs   4 … one request each, as msgpack: worker, state to stamp, lease µs (0: the
--        task's own), max, queues; a queue is {name, types or false, max, concurrency (0: no limit), its permit, idle µs
--        before a kept entry is handed out again, or false where none is kept}. At most 64 tasks in all.
-- gives  now, and for each request an array of {ref, state, attempt, h, c, wake µs, body, outcome}
-- order  queue by queue as given (the caller turns them); in a queue the best priority first, the lanes of one priority
--        in turn; one lane per XREADGROUP, because its COUNT is per stream.
--        An entry that is no longer its task's own is dropped, a missing record's never.

local consumer, default_lease = ARGV[2], tonumber(ARGV[3])
local worker, to, lease, left, claimed  -- of the request at hand

-- A row of history is the same for all tasks of one attempt.
local rows = {}
local function row_of(attempt)
  local row = rows[attempt]
  if not row then
    row = cmsgpack.pack('claimed', to, attempt, now, worker)
    rows[attempt] = row
  end
  return row
end

-- domain::stamp_claim(), line by line. State and attempt stand beside the header.
local function stamp(h, c, holds)
  local given = lease > 0 and lease or c[LEASE] > 0 and c[LEASE] or default_lease
  local epoch, started_at = math.max(moment(h, EPOCH) + 1, now), h[STARTED_AT] and moment(h, STARTED_AT) - now
  h[VERSION] = h[VERSION] + 1
  h[UPDATED_AT] = now
  h[EPOCH] = epoch - now
  h[LEASE_GRANTED] = given
  h[LEASE_UNTIL] = given
  h[WORKER] = worker
  if to == 'running' then h[STARTED_AT] = 0 else h[STARTED_AT] = started_at end
  h[DUE_AT] = false
  h[ENDED_BY] = 0
  h[PROGRESS] = -1
  h[HOLDS] = holds
  h[NONCE] = ''
  return epoch
end

local function take_permits(queue, c, ref, epoch, takes_gate, takes_queue_permit)
  local holder = ref .. ':' .. text(epoch)
  if takes_gate then acquire(c[GATE], holder, '+inf') end
  if takes_queue_permit then acquire(queue.permit, holder, '+inf') end
end

-- Gives whether the task was handed out.
local function hand_out(queue, lane, entry, ref)
  local key = key_of(ref)
  local record = redis.call('HMGET', key, 's', 'a', 'h', 'c', 'x', 'o', 'b', 'b2', 'b3', 'b4', 'b5', 'b6')
  if not record[3] then return false end
  local is_kept = record[5] == '~' .. entry
  if record[1] ~= 'queued' or not (is_kept or record[5] == entry) then
    if not is_kept then drop(lane, entry) end
    return false
  end
  local h, c, attempt = {cmsgpack.unpack(record[3])}, {cmsgpack.unpack(record[4])}, record[2] + 1
  local takes_gate, takes_queue_permit = c[GATE] ~= '' and c[GATE_LIMIT] > 0, queue.concurrency > 0
  local epoch = stamp(h, c, (takes_gate and 1 or 0) + (takes_queue_permit and 2 or 0))
  if takes_gate or takes_queue_permit then take_permits(queue, c, ref, epoch, takes_gate, takes_queue_permit) end
  local family, hot, wake = c[QUEUE] .. '|' .. c[TYPE], cmsgpack.pack(unpack(h)), text(held_until(h, c))
  count(family, h[FINGERPRINT], 'queued', -1)
  count(family, h[FINGERPRINT], to, 1)
  move('tasks:queued', ref, false)
  move('tasks:' .. to, ref, c[CREATED_AT])
  move('wake', ref, wake)
  if is_kept then
    redis.call('HSET', key, 's', to, 'a', text(attempt), 'h', hot, text(h[VERSION]), row_of(attempt), 'x', entry)
  else
    redis.call('HSET', key, 's', to, 'a', text(attempt), 'h', hot, text(h[VERSION]), row_of(attempt))
  end
  feed[#feed + 1] = cmsgpack.pack('claimed', ref, h[VERSION], to, attempt, now, c[QUEUE], c[TYPE], c[TENANT])
  claimed[#claimed + 1] = {ref, to, attempt, hot, record[4], wake, body_of(key, record, 7),
                         outcome_of(key, record[6])}
  return true
end

-- ---- what a lane has next ----

-- The entries that were never handed out, without taking them.
local function peek(key, n)
  if redis.call('EXISTS', key) == 0 then return {} end
  local group, last = redis.call('XINFO', 'GROUPS', key)[1], '0'
  for i = 1, #group, 2 do
    if group[i] == 'last-delivered-id' then last = group[i + 1] end
  end
  return redis.call('XRANGE', key, '(' .. last, '+', 'COUNT', n)
end

local function again(lane, n) return redis.call('ZRANGEBYSCORE', P .. 'again:' .. lane, '-inf', text(now), 'WITHSCORES', 'LIMIT', 0, n) end

-- Entries that were never handed out: {entry, ref} each.
local function take_new(lane, n)
  local got = redis.call('XREADGROUP', 'GROUP', 'workers', consumer, 'COUNT', n, 'STREAMS', P .. 'lane:' .. lane, '>')
  local entries = {}
  for i, entry in ipairs(got and got[1][2] or {}) do entries[i] = {entry[1], entry[2][2]} end
  return entries
end

-- One that was kept pending. What cannot be had is looked at again later; the sweep mends what is gone.
local function take_kept(lane, ref, idle)
  local entry = redis.call('HGET', key_of(ref), 'x')
  local own = entry and string.sub(entry, 1, 1) == '~' and string.sub(entry, 2)
  local got = own and redis.call('XCLAIM', P .. 'lane:' .. lane, 'workers', consumer, math.floor(idle / 1000), own) or {}
  if got[1] then
    redis.call('ZREM', P .. 'again:' .. lane, ref)
    return {own, ref}
  end
  redis.call('ZADD', P .. 'again:' .. lane, text(now + 1000000), ref)
end

-- In the order in which they were queued, which for new ones their id tells, to the millisecond.
local function take_merged(lane, n, kept, idle)
  local new, chosen, fresh, k = peek(P .. 'lane:' .. lane, n), {}, 0, 1
  while #chosen + fresh < n and (kept[k] or new[fresh + 1]) do
    local head = new[fresh + 1]
    local pushed = head and tonumber(string.match(head[1], '^%d+'))
    if head and (not kept[k] or pushed <= math.floor(kept[k + 1] / 1000)) then
      fresh = fresh + 1
    else
      chosen[#chosen + 1] = take_kept(lane, kept[k], idle)
      k = k + 2
    end
  end
  local entries = fresh > 0 and take_new(lane, fresh) or {}
  for _, entry in ipairs(chosen) do entries[#entries + 1] = entry end
  return entries
end

-- Up to n entries, first in, first out; fewer: the lane has no more.
local function take(queue, lane, n)
  local kept = queue.idle and again(lane, n) or {}
  if not kept[1] then return take_new(lane, n) end
  return take_merged(lane, n, kept, queue.idle)
end

-- ---- gates ----

-- The limit that the first task of a lane sets to its gate; nil: there is no task.
local function limit_of(queue, lane)
  local head = peek(P .. 'lane:' .. lane, 1)[1]
  if head then return tonumber(head[2][4] or 0) end
  local kept = queue.idle and again(lane, 1)[1]
  local cold = kept and redis.call('HGET', key_of(kept), 'c')
  return cold and ({cmsgpack.unpack(cold)})[GATE_LIMIT]
end

-- Out of the sight of claims until a permit of the gate comes back, or one expires.
local function shut(queue, lane, gate)
  redis.call('ZREM', P .. 'lanes:' .. queue.name, lane)
  redis.call('SADD', P .. 'shut:' .. gate, lane)
  local first = redis.call('ZRANGE', P .. 'permit:' .. gate, '(' .. text(now), '(+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  if first[1] then redis.call('ZADD', P .. 'looks', 'LT', first[2], lane) end
end

-- Out of their sight until something is pushed, or the next kept entry may be handed out.
local function hide(queue, lane)
  redis.call('ZREM', P .. 'lanes:' .. queue.name, lane)
  if not queue.idle then return end
  local next = redis.call('ZRANGEBYSCORE', P .. 'again:' .. lane, '(' .. text(now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if next[1] then redis.call('ZADD', P .. 'looks', 'LT', next[2], lane) end
end

local function look_again()
  local lanes = redis.call('ZRANGEBYSCORE', P .. 'looks', '-inf', text(now))
  for _, lane in ipairs(lanes) do show(lane) end
  if lanes[1] then call_with(lanes, 'ZREM', P .. 'looks') end
end

-- ---- turns ----

-- Serves one lane up to n tasks. Gives whether it may have more for this call.
local function serve(place, n)
  local queue, lane = place.queue, place.lane
  n = math.min(n, left, queue.room)
  if n <= 0 then return false end
  if place.gate ~= '' then
    local limit = limit_of(queue, lane)
    if limit and limit > 0 and held(place.gate) >= limit then
      shut(queue, lane, place.gate)
      return false
    end
    n = limit and 1 or 0
  end
  local entries = n > 0 and take(queue, lane, n) or {}
  for _, entry in ipairs(entries) do
    if hand_out(queue, lane, entry[1], entry[2]) then
      left = left - 1
      queue.room = queue.room - 1
    end
  end
  if n == 0 or #entries < n then
    hide(queue, lane)
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

local function serve_request(request)
  worker, to, lease, left, claimed, rows = request[1], request[2], request[3], request[4], {}, {}
  for _, asked in ipairs(request[5]) do
    if left == 0 then break end
    serve_queue({name = asked[1], types = asked[2], room = asked[3], concurrency = asked[4], permit = asked[5],
                 idle = asked[6]})
  end
  return claimed
end

look_again()
local answers = {now}
for i = 4, #ARGV do answers[#answers + 1] = serve_request({cmsgpack.unpack(ARGV[i])}) end
flush()
return answers
