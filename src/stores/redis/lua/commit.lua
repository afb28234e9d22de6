-- commit: apply each change whole or not at all, in order.
-- ARGV   2 idle µs before a kept entry is handed out again   3 DLQ stream or ''   4 … one change each, as msgpack:
--        {puts} or {puts, appends, adds, binds, permits, notes}; false: none
--          put     ref, expected version, epoch, nonce ('': any) and latest end of the lease (0: any), state, attempt,
--                  h, c, history row or '', feed event, wake µs or '', lane or '', body (a table: its pieces, for the hash) or
--                  false, outcome or false, 1 erase + 2 keep its entry pending + 4 outcome in the hash + 8 is a task,
--                  queue .. | .. type, fingerprint, gate limit, created µs, finished µs, message, bound for ms
--          append  owner, log .. \0 .. key, bytes, refuse?, log
--          add     counter, delta, least, most: bounds of what is stored now, as decimal text
--          bind    scope .. \0 .. key, id, hash, ttl ms, names a record of this change?
--          permit  acquire?, key, holder, capacity, ttl µs
--          note    kind, id, name, data
-- gives  now, and one each: 0 committed, or {0, places of skipped appends …}, {1} conflict, {2, reason, binding}
--        duplicate, {3, reason} refused; a text where a write failed: what came before it is whole, what comes after was
--        not tried
-- order  keys that no guard has read are written first, headers last: where a write fails, the change is not committed,
--        and a re-run mends it. A lane entry that is left over then is nobody's: sweep drops it.

local CONFLICT, DUPLICATE, REFUSED = 1, 2, 3
local REF, EXPECTED_VERSION, EXPECTED_EPOCH, EXPECTED_NONCE, UNLESS_RENEWED_PAST, STATE, ATTEMPT = 1, 2, 3, 4, 5, 6, 7
local HOT, COLD, ROW, EVENT, WAKE, LANE, BODY, OUTCOME, FLAGS = 8, 9, 10, 11, 12, 13, 14, 15, 16
local FAMILY, FAILURE, LIMIT, CREATED, FINISHED, MESSAGE, BOUND = 17, 18, 19, 20, 21, 22, 23
local ERASE, KEEP, OUTCOME_INSIDE, IS_TASK = 1, 2, 4, 8
local PIECES = {'b', 'b2', 'b3', 'b4', 'b5', 'b6'}
local DEAD = {suspended = true, failed = true}
local idle, dlq = tonumber(ARGV[2]), ARGV[3]

local function is_set(put, flag) return bit.band(put[FLAGS], flag) ~= 0 end

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
  return old.h[VERSION] == put[EXPECTED_VERSION] and moment(old.h, EPOCH) == put[EXPECTED_EPOCH] and
         (put[EXPECTED_NONCE] == '' or old.h[NONCE] == put[EXPECTED_NONCE]) and
         (put[UNLESS_RENEWED_PAST] == 0 or moment(old.h, LEASE_UNTIL) <= put[UNLESS_RENEWED_PAST])
end

-- The record as it is, or nil. Its cold half is read only where it is another one than the put's.
local function stored(put, key)
  local fields = redis.call('HMGET', key, 'h', 'c', 's', 'a', 'x', 'o', 'd')
  if not fields[1] then return nil end
  local old = {h = cmsgpack.unpack(fields[1]), state = fields[3], attempt = fields[4], outcome = fields[6], dead = fields[7]}
  old.same = fields[2] == put[COLD]
  if not old.same then
    old.c = cmsgpack.unpack(fields[2])
    old.family = old.c[QUEUE] .. '|' .. old.c[TYPE]
    old.lane = lane_of(old.c)
  else
    old.family = put[FAMILY]
  end
  local entry = fields[5]
  if entry and entry ~= '' then
    old.kept = string.sub(entry, 1, 1) == '~'
    old.entry = old.kept and string.sub(entry, 2) or entry
    if not old.lane then
      old.c = cmsgpack.unpack(put[COLD])
      old.lane = lane_of(old.c)
    end
  end
  return old
end

local function examine_puts(puts, olds)
  for i, put in ipairs(puts) do
    put.key = key_of(put[REF])
    local old = stored(put, put.key)
    if not is_expected(old, put) then return {CONFLICT} end
    olds[i] = old or false
  end
end

-- A binding names a record by its id alone: it may be of any kind.
local KINDS = {'task', 'plan', 'schedule', 'account', 'delivery', 'cursor', 'queue', 'bulk'}
local function is_there(id)
  local keys = {}
  for i, kind in ipairs(KINDS) do keys[i] = P .. kind .. ':' .. id end
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
    if seen[name] or redis.call('HEXISTS', P .. 'log:' .. append[1], append[2]) == 1 then
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

local function stays_held(put, old) return old and HELD[old.state] and HELD[put[STATE]] and not is_set(put, ERASE) end

-- A put that was decided before a renewal does not undo what it brought: a renewal moves no version.
local function keep_renewal(put, old)
  local h = cmsgpack.unpack(put[HOT])
  if put[ATTEMPT] ~= tonumber(old.attempt) or moment(h, EPOCH) ~= moment(old.h, EPOCH) then return end
  h[LEASE_UNTIL] = math.max(moment(h, LEASE_UNTIL), moment(old.h, LEASE_UNTIL)) - h[UPDATED_AT]
  h[PROGRESS], h[NOTE] = old.h[PROGRESS], old.h[NOTE]
  put[HOT], put[WAKE] = cmsgpack.pack(h), text(held_until(h, cmsgpack.unpack(put[COLD])))
end

-- Whether an entry that was handed out stays pending until the task is tried again.
local function keeps_entry(put, old)
  return is_set(put, KEEP) and old.entry and (old.kept or HELD[old.state]) and old.same and
         (put[STATE] == 'queued' or put[STATE] == 'waiting' or put[STATE] == 'retrying')
end

-- Where it stands: gives the entry that the header will name, '' for none, nil for the one that it names already.
local function place(put, old)
  if old and keeps_entry(put, old) then
    put.keeps = true
    if put[STATE] == 'queued' then push_again(old.lane, put[REF], old.entry, idle) end
    return not old.kept and '~' .. old.entry or nil
  end
  if put[LANE] ~= '' then return push(put[LANE], put[REF], put[LIMIT]) end
  if old and old.entry and not stays_held(put, old) then return '' end
end

-- The keys beside the header.
local function prepare(put, old)
  if is_set(put, ERASE) then return end
  if type(put[BODY]) == 'string' then redis.call('SET', put.key .. ':body', put[BODY])
  elseif put[BODY] and old then redis.call('DEL', put.key .. ':body') end
  if put[OUTCOME] then
    if put[OUTCOME] ~= '' and not is_set(put, OUTCOME_INSIDE) then redis.call('SET', put.key .. ':outcome', put[OUTCOME])
    elseif old and old.outcome == '>' then redis.call('DEL', put.key .. ':outcome') end
  end
  if is_set(put, IS_TASK) then put.entry = place(put, old) end
end

-- A task that waits for a person, or failed for good, stands in the DLQ for as long as it is there.
local function mourn(put, old)
  if dlq == '' then return nil end
  local is, was = DEAD[put[STATE]] and not is_set(put, ERASE), old and old.dead
  if was and not is then
    redis.call('XDEL', dlq, old.dead)
    return false
  end
  if is and not was then
    local queue, type = string.match(put[FAMILY], '^([^|]*)|(.*)$')
    return redis.call('XADD', dlq, '*', 'task', put[REF], 'queue', queue, 'type', type, 'state', put[STATE], 'attempt',
                      put[ATTEMPT], 'message', put[MESSAGE])
  end
end

-- A finished task is not trimmed while a key names it.
local function bound_until(ttl) return text(math.floor(now / 1000) + ttl) end

local function erase(put, old)
  local id = string.sub(put[REF], 1, 36)
  if is_set(put, IS_TASK) then mourn(put, old) end
  redis.call('DEL', put.key, put.key .. ':body', put.key .. ':outcome', P .. 'log:' .. id)
end

local function write(put, old)
  if is_set(put, ERASE) then return erase(put, old) end
  if stays_held(put, old) then keep_renewal(put, old) end
  local fields, gone = {'s', put[STATE], 'h', put[HOT]}, {}
  local function set(name, value)
    fields[#fields + 1] = name
    fields[#fields + 1] = value
  end
  if not old or tonumber(old.attempt) ~= put[ATTEMPT] then set('a', put[ATTEMPT]) end
  if not old or not old.same then set('c', put[COLD]) end
  if put.entry then set('x', put.entry) end
  if put[BOUND] > 0 then set('u', bound_until(put[BOUND])) end
  if put[BODY] and old then redis.call('HDEL', put.key, unpack(PIECES)) end
  if type(put[BODY]) == 'table' then
    for i, piece in ipairs(put[BODY]) do set(PIECES[i], piece) end
  end
  if put[OUTCOME] == '' then gone[#gone + 1] = 'o'
  elseif put[OUTCOME] then set('o', is_set(put, OUTCOME_INSIDE) and '=' .. put[OUTCOME] or '>') end
  if is_set(put, IS_TASK) then
    local grave = mourn(put, old)
    if grave then set('d', grave) elseif grave == false then gone[#gone + 1] = 'd' end
  end
  if put[ROW] ~= '' then set(put[EXPECTED_VERSION] + 1, put[ROW]) end
  redis.call('HSET', put.key, unpack(fields))
  if gone[1] then redis.call('HDEL', put.key, unpack(gone)) end
end

-- Into the set of its state, which is where lists look.
local function settle(put, old)
  local id, state = put[REF], put[STATE]
  if old and old.state ~= state then move('tasks:' .. old.state, id, false) end
  if not old or old.state ~= state or not old.same then move('tasks:' .. state, id, put[CREATED]) end
  if FINAL[state] then move('done', id, put[FINISHED]) elseif old and FINAL[old.state] then move('done', id, false) end
end

local function gather_erased(put, old)
  move('wake', put[REF], false)
  if not is_set(put, IS_TASK) then return move('all:' .. string.sub(put[REF], 38), put[REF], false) end
  if not old then return end
  move('tasks:' .. old.state, put[REF], false)
  move('done', put[REF], false)
end

-- What flush() will write.
local function gather(put, old)
  local ref, is_task = put[REF], is_set(put, IS_TASK)
  feed[#feed + 1] = put[EVENT]
  if old and old.entry and not put.keeps and not stays_held(put, old) then drop(old.lane, old.entry) end
  if old and old.kept and (not put.keeps or put[STATE] ~= 'queued') then move('again:' .. old.lane, ref, false) end
  if old and is_task then count(old.family, old.h[FINGERPRINT], old.state, -1) end
  if is_set(put, ERASE) then return gather_erased(put, old) end
  if is_task then
    count(put[FAMILY], put[FAILURE], put[STATE], 1)
    settle(put, old)
  else
    move('all:' .. string.sub(ref, 38), ref, put[CREATED])
  end
  if put[WAKE] ~= '' then move('wake', ref, put[WAKE]) elseif old then move('wake', ref, false) end
end

local function apply_appends(appends)
  for _, append in ipairs(appends) do
    local key = P .. 'log:' .. append[1]
    if not append.skip then redis.call('HSET', key, append[2], redis.call('HLEN', key) .. ':' .. append[3]) end
  end
end

local function apply_binds(binds)
  for _, bind in ipairs(binds) do
    redis.call('SET', P .. 'bind:' .. bind[1], bind[2] .. bind[3], 'PX', bind[4])
    local key = P .. 'task:' .. bind[2]
    if not bind[5] and redis.call('EXISTS', key) == 1 then redis.call('HSET', key, 'u', bound_until(bind[4])) end
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
    if permit[1] then acquire(permit[2], permit[3], permit[5] > 0 and text(now + permit[5]) or '+inf') end
  end
end

local function apply(change, olds)
  local puts = change[1]
  for i, put in ipairs(puts) do prepare(put, olds[i]) end
  if change[2] then apply_appends(change[2]) end
  if change[4] then apply_binds(change[4]) end
  if change[5] then apply_permits(change[5]) end
  for _, add in ipairs(change[3] or {}) do redis.call('HINCRBY', P .. 'counters', add[1], add[2]) end
  for i, put in ipairs(puts) do write(put, olds[i]) end
  for i, put in ipairs(puts) do gather(put, olds[i]) end
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

local outcomes = {now}
for i = 4, #ARGV do
  local done, outcome = pcall(commit, ARGV[i])
  outcomes[#outcomes + 1] = done and outcome or tostring(type(outcome) == 'table' and outcome.err or outcome)
  if not done then break end
end
flush()
return outcomes
