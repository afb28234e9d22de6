-- commit: apply each change whole or not at all, in order.
-- ARGV   one change each, at most 64, as msgpack: {puts, appends, adds, binds, permits, notes}; false: none
--          put     ref, expected version, epoch, nonce ('': any) and latest end of the lease (0: any), header,
--                  history row or '', feed event, wake µs, lane or '', body or false, outcome or false, erase?,
--                  and for a task (else false) {state, queue .. | .. type, fingerprint, gate limit, updated at}
--          append  owner, log .. \0 .. key, bytes, refuse?, log
--          add     counter, delta, least, most: bounds of what is stored now, as decimal text
--          bind    scope .. \0 .. key, id, hash, ttl ms
--          permit  acquire?, key, holder, capacity, ttl µs
--          note    kind, id, name, data
-- gives  one each: 0 committed, or {0, places of skipped appends …}, {1} conflict, {2, reason, binding} duplicate,
--        {3, reason} refused; a text where a write failed: what came before it is whole, what comes after was not tried
-- order  keys that no guard has read are written first, headers last: where a write fails (a slot on its way to another
--        node), the change is not committed, and a re-run mends it. A lane entry that is left over then is nobody's.

local CONFLICT, DUPLICATE, REFUSED = 1, 2, 3
local REF, EXPECTED_VERSION, EXPECTED_EPOCH, EXPECTED_NONCE, UNLESS_RENEWED_PAST = 1, 2, 3, 4, 5
local HEADER, ROW, EVENT, WAKE, LANE, BODY, OUTCOME, ERASE, PLACE = 6, 7, 8, 9, 10, 11, 12, 13, 14

-- Decimal texts of 64-bit numbers, which a Lua number cannot hold.
local function is_less(a, b)
  local negative = string.sub(a, 1, 1) == '-'
  if negative ~= (string.sub(b, 1, 1) == '-') then return negative end
  if #a ~= #b then return (#a < #b) ~= negative end
  if a == b then return false end
  return (a < b) ~= negative
end

-- ---- guards: none writes ----

local function is_expected(old, put)
  if not old then return put[EXPECTED_VERSION] == 0 end
  return old[VERSION] == put[EXPECTED_VERSION] and old[EPOCH] == put[EXPECTED_EPOCH] and
         (put[EXPECTED_NONCE] == '' or old[NONCE] == put[EXPECTED_NONCE]) and
         (put[UNLESS_RENEWED_PAST] == 0 or old[LEASE_UNTIL] <= put[UNLESS_RENEWED_PAST])
end

local function examine_puts(puts, olds)
  for i, put in ipairs(puts) do
    local stored = redis.call('HMGET', P .. 'h' .. put[REF], 'h', 'x')
    local old = stored[1] and cmsgpack.unpack(stored[1])
    if not is_expected(old, put) then return {CONFLICT} end
    olds[i] = {old, stored[2] ~= '' and stored[2]}
  end
end

-- A binding names a record by its id alone: it may be of any kind.
local function is_there(id)
  local keys = {}
  for kind = 0, 7 do keys[kind + 1] = P .. 'h' .. kind .. ':' .. id end
  return redis.call('EXISTS', unpack(keys)) > 0
end

local function examine_binds(binds)
  for _, bind in ipairs(binds) do
    local bound = redis.call('GET', P .. 'bind:' .. bind[1])
    local id = bound and string.sub(bound, 1, 36)
    if id and id ~= bind[2] and is_there(id) then return {DUPLICATE, 'binding', bound} end
  end
end

local function examine_appends(appends, skipped)
  local seen = {}
  for i, append in ipairs(appends) do
    local name = append[1] .. append[2]
    if seen[name] or redis.call('HEXISTS', P .. 'g:' .. append[1], append[2]) == 1 then
      if append[4] then return {DUPLICATE, append[5]} end
      append.skip = true
      skipped[#skipped + 1] = i - 1
    end
    seen[name] = true
  end
end

local function examine_adds(adds)
  for _, add in ipairs(adds) do
    local value = redis.call('HGET', P .. 'counters', add[1]) or '0'
    if is_less(value, add[3]) or is_less(add[4], value) then return {REFUSED, add[1]} end
  end
end

-- Within one change releases come first: a permit may pass from one holder to another in one step.
local function examine_permits(permits)
  local holding, taken = {}, {}
  local function holds(permit)
    local name = permit[2] .. '\0' .. permit[3]
    if holding[name] == nil then
      local expiry = redis.call('ZSCORE', P .. 'permit:' .. permit[2], permit[3])
      holding[name] = expiry ~= false and (expiry == 'inf' or tonumber(expiry) > now)
    end
    return holding[name]
  end
  local function turn(permit, to, by)
    holding[permit[2] .. '\0' .. permit[3]] = to
    taken[permit[2]] = (taken[permit[2]] or 0) + by
  end
  for _, permit in ipairs(permits) do
    if not permit[1] and holds(permit) then turn(permit, false, -1) end
  end
  for _, permit in ipairs(permits) do
    if permit[1] and not holds(permit) then
      if held(permit[2]) + (taken[permit[2]] or 0) >= permit[4] then return {REFUSED, permit[2]} end
      turn(permit, true, 1)
    end
  end
end

local function examine(change, olds, skipped)
  return examine_puts(change[1], olds) or change[4] and examine_binds(change[4]) or
         change[2] and examine_appends(change[2], skipped) or change[3] and examine_adds(change[3]) or
         change[5] and examine_permits(change[5])
end

-- ---- writes ----

local function erase(ref)
  redis.call('DEL', P .. 'h' .. ref, P .. 'b' .. ref, P .. 'o' .. ref, P .. 'g:' .. string.sub(ref, 3))
  for _, moves in pairs(moved) do moves[ref] = false end
end

-- Into the set of its state; a task is in one of lane, wake, parked and done.
local function settle(ref, state, was, at)
  if state >= SUCCEEDED then moved.done[ref] = at elseif was >= SUCCEEDED then moved.done[ref] = false end
  local parked = state == PAUSED or state == SUSPENDED
  if parked then
    moved.parked[ref] = at
  elseif was == PAUSED or was == SUSPENDED then
    moved.parked[ref] = false
  end
end

-- A renewal moves no version: a put that was decided before one does not undo what it brought.
local function keep_renewal(put, old)
  local h = cmsgpack.unpack(put[HEADER])
  if h[ATTEMPT] ~= old[ATTEMPT] or h[EPOCH] ~= old[EPOCH] then return end
  h[LEASE_UNTIL], h[PROGRESS], h[NOTE] = math.max(h[LEASE_UNTIL], old[LEASE_UNTIL]), old[PROGRESS], old[NOTE]
  put[HEADER], put[WAKE] = cmsgpack.pack(h), held_until(h)
end

local function state_of(put) return put[PLACE] and put[PLACE][1] or 0 end

local function stays_held(put, old) return old and is_held(old[STATE]) and is_held(state_of(put)) and not put[ERASE] end

-- Bodies, and the entry that the header will name: '' if it leaves its lane, nil if all stays as it is.
local function prepare(put, old, entry)
  if put[ERASE] then return end
  local ref = put[REF]
  if put[BODY] then redis.call('SET', P .. 'b' .. ref, put[BODY]) end
  if put[OUTCOME] then redis.call('SET', P .. 'o' .. ref, put[OUTCOME]) end
  if put[LANE] ~= '' then
    put.entry = push(put[LANE], ref, put[PLACE][4])
  elseif entry and not stays_held(put, old) then
    put.entry = ''
  end
end

local function write(put, old)
  if put[ERASE] then return erase(put[REF]) end
  if stays_held(put, old) then keep_renewal(put, old) end
  local fields = {'h', put[HEADER]}
  if put[ROW] ~= '' then fields[3], fields[4] = put[EXPECTED_VERSION] + 1, put[ROW] end
  if put.entry then
    fields[#fields + 1] = 'x'
    fields[#fields + 1] = put.entry
  end
  redis.call('HSET', P .. 'h' .. put[REF], unpack(fields))
end

-- What flush() will write.
local function gather(put, old, entry)
  local ref, place, state, was = put[REF], put[PLACE], state_of(put), old and old[STATE] or 0
  feed[#feed + 1] = put[EVENT]
  if entry and not stays_held(put, old) then drop(lane_of(old), entry) end
  if old and place then count(old[QUEUE] .. '|' .. old[TYPE], old[FINGERPRINT], was, -1) end
  if put[ERASE] then return end
  if place then
    count(place[2], place[3], state, 1)
    settle(ref, state, was, place[5])
  end
  if put[WAKE] > 0 then moved.wake[ref] = put[WAKE] elseif old then moved.wake[ref] = false end
end

local function apply_appends(appends)
  for _, append in ipairs(appends) do
    local key = P .. 'g:' .. append[1]
    if not append.skip then redis.call('HSET', key, append[2], redis.call('HLEN', key) .. ':' .. append[3]) end
  end
end

local function apply_permits(permits)
  for _, permit in ipairs(permits) do
    if not permit[1] then
      redis.call('ZREM', P .. 'permit:' .. permit[2], permit[3])
      open(permit[2])
    end
  end
  for _, permit in ipairs(permits) do
    if permit[1] then acquire(permit[2], permit[3], permit[5] > 0 and now + permit[5] or '+inf') end
  end
end

local function apply(change, olds)
  for i, put in ipairs(change[1]) do prepare(put, olds[i][1], olds[i][2]) end
  if change[2] then apply_appends(change[2]) end
  for _, bind in ipairs(change[4] or {}) do
    redis.call('SET', P .. 'bind:' .. bind[1], bind[2] .. bind[3], 'PX', bind[4])
  end
  if change[5] then apply_permits(change[5]) end
  for _, add in ipairs(change[3] or {}) do redis.call('HINCRBY', P .. 'counters', add[1], add[2]) end
  for i, put in ipairs(change[1]) do write(put, olds[i][1]) end
  for i, put in ipairs(change[1]) do gather(put, olds[i][1], olds[i][2]) end
  for _, note in ipairs(change[6] or {}) do
    note[5] = now
    feed[#feed + 1] = note
  end
end

local function commit(packed)
  local change, olds, skipped = cmsgpack.unpack(packed), {}, {}
  local objection = examine(change, olds, skipped)
  if objection then return objection end
  apply(change, olds)
  return skipped[1] and {0, unpack(skipped)} or 0
end

local outcomes = {}
for i, packed in ipairs(ARGV) do
  local done, outcome = pcall(commit, packed)
  outcomes[i] = done and outcome or tostring(type(outcome) == 'table' and outcome.err or outcome)
  if not done then break end
end
flush()
return outcomes
