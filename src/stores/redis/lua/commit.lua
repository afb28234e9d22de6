-- commit: apply each change whole or not at all, in order.
-- ARGV   2 idle µs before a kept entry is handed out again   3 DLQ stream or ''   4 … one change each, as msgpack: a put
--        alone, or true and a new task, or the number of puts, each put as a text, appends, adds, binds, permits, notes
--        (false: none)
--          task    id, state, attempt, h, c, feed event, wake µs or '', lane, queue .. | .. type, gate limit, created µs,
--                  and what else is in its hash: name, value …
--          put     ref, expected version, epoch, nonce ('': any) and latest end of the lease (0: any), state, attempt,
--                  h, c, history row or '', feed event, wake µs or '', lane, body (a table: its pieces, for the hash) or
--                  false, outcome for the hash or false, outcome apart or false, is a task?, erase?, keep its entry
--                  pending?, queue .. | .. type, fingerprint, gate limit, created µs, message, bound for ms, and four
--                  places for what the script finds out
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
local HOT, COLD, ROW, EVENT, WAKE, LANE, BODY, OUTCOME, APART = 8, 9, 10, 11, 12, 13, 14, 15, 16
local IS_TASK, ERASE, KEEP, FAMILY, FAILURE, LIMIT, CREATED, MESSAGE, BOUND = 17, 18, 19, 20, 21, 22, 23, 24, 25
local KEY, ENTRY, KEEPS, STAYS = 26, 27, 28, 29
local PIECES = {'b', 'b2', 'b3', 'b4', 'b5', 'b6'}
-- A record as it is; false: there is none.
local H, WAS, TRIES, KNOWN_OUTCOME, GRAVE, SAME, OLD_FAMILY, OLD_LANE, OLD_ENTRY, KEPT = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
local DEAD = {suspended = true, failed = true}
local idle, dlq = tonumber(ARGV[2]), ARGV[3]

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
  local h = old[H]
  return h[VERSION] == put[EXPECTED_VERSION] and moment(h, EPOCH) == put[EXPECTED_EPOCH] and
         (put[EXPECTED_NONCE] == '' or h[NONCE] == put[EXPECTED_NONCE]) and
         (put[UNLESS_RENEWED_PAST] == 0 or moment(h, LEASE_UNTIL) <= put[UNLESS_RENEWED_PAST])
end

-- The cold half is read only where it is another one than the put's.
local function stored(put)
  if put[EXPECTED_VERSION] == 0 and redis.call('EXISTS', put[KEY]) == 0 then return false end
  local r = redis.call('HMGET', put[KEY], 'h', 'c', 's', 'a', 'x', 'o')
  if not r[1] then return false end
  local same, family, lane, entry, kept = r[2] == put[COLD], put[FAMILY], put[LANE], r[5], false
  if not same then
    local c = {cmsgpack.unpack(r[2])}
    family, lane = c[QUEUE] .. '|' .. c[TYPE], lane_of(c)
  end
  if entry == '' then entry = false end
  if entry and string.byte(entry) == 126 then entry, kept = string.sub(entry, 2), true end
  local grave = DEAD[r[3]] and redis.call('HGET', put[KEY], 'd')
  return {{cmsgpack.unpack(r[1])}, r[3], tonumber(r[4]), r[6], grave, same, family, lane, entry, kept}
end

local function examine_puts(puts, olds)
  for i, put in ipairs(puts) do
    put[KEY] = key_of(put[REF])
    local old = stored(put)
    if not is_expected(old, put) then return {CONFLICT} end
    put[STAYS] = old and HELD[old[WAS]] and HELD[put[STATE]] and not put[ERASE]
    olds[i] = old
  end
end

-- A binding names a record by its id alone: it may be of any kind.
local KINDS = {'task', 'plan', 'schedule', 'account', 'delivery', 'cursor', 'queue', 'bulk',
  'series', 'audit'}
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

local function examine(puts, olds, beside, skipped)
  return examine_puts(puts, olds) or beside[3] and examine_binds(beside[3]) or
         beside[1] and examine_appends(beside[1], skipped) or beside[2] and examine_adds(beside[2]) or
         beside[4] and examine_permits(beside[4])
end

-- ---- writes ----

-- A put that was decided before a renewal does not undo what it brought: a renewal moves no version.
local function keep_renewal(put, old)
  local h, was = {cmsgpack.unpack(put[HOT])}, old[H]
  if put[ATTEMPT] ~= old[TRIES] or moment(h, EPOCH) ~= moment(was, EPOCH) then return end
  h[LEASE_UNTIL] = math.max(moment(h, LEASE_UNTIL), moment(was, LEASE_UNTIL)) - h[UPDATED_AT]
  h[PROGRESS], h[NOTE] = was[PROGRESS], was[NOTE]
  put[HOT], put[WAKE] = cmsgpack.pack(unpack(h)), text(held_until(h, {cmsgpack.unpack(put[COLD])}))
end

-- Whether an entry that was handed out stays pending until the task is tried again.
local function keeps_entry(put, old)
  local state = put[STATE]
  return put[KEEP] and old[OLD_ENTRY] and (old[KEPT] or HELD[old[WAS]]) and old[SAME] and
         (state == 'queued' or state == 'waiting' or state == 'retrying')
end

-- Where it stands: gives the entry that the header will name, '' for none, false for the one that it names already.
local function place(put, old)
  if old and keeps_entry(put, old) then
    put[KEEPS] = true
    if put[STATE] == 'queued' then push_again(old[OLD_LANE], put[REF], old[OLD_ENTRY], idle) end
    return not old[KEPT] and '~' .. old[OLD_ENTRY]
  end
  if put[STATE] == 'queued' then return push(put[LANE], put[REF], put[LIMIT]) end
  return old and old[OLD_ENTRY] and not put[STAYS] and ''
end

-- The keys beside the header.
local function prepare(put, old)
  if put[ERASE] then return end
  if type(put[BODY]) == 'string' then redis.call('SET', put[KEY] .. ':body', put[BODY])
  elseif put[BODY] and old then redis.call('DEL', put[KEY] .. ':body') end
  if put[APART] then redis.call('SET', put[KEY] .. ':outcome', put[APART])
  elseif put[OUTCOME] and old and old[KNOWN_OUTCOME] == '>' then redis.call('DEL', put[KEY] .. ':outcome') end
  if put[IS_TASK] then put[ENTRY] = place(put, old) end
end

-- A task that waits for a person, or failed for good, stands in the DLQ for as long as it is there. Gives its entry, or
-- false: it has left; nil: all is as it was.
local function mourn(put, old)
  if dlq == '' then return nil end
  local is, was = DEAD[put[STATE]] and not put[ERASE], old and old[GRAVE]
  if was and not is then
    redis.call('XDEL', dlq, was)
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
  if put[IS_TASK] then mourn(put, old) end
  redis.call('DEL', put[KEY], put[KEY] .. ':body', put[KEY] .. ':outcome', P .. 'log:' .. string.sub(put[REF], 1, 36))
end

local fields = {}  -- one table for all of them
local function write(put, old)
  if put[ERASE] then return erase(put, old) end
  if put[STAYS] then keep_renewal(put, old) end
  local n, gone = 4, false
  fields[1], fields[2], fields[3], fields[4] = 's', put[STATE], 'h', put[HOT]
  if not old or old[TRIES] ~= put[ATTEMPT] then fields[n + 1], fields[n + 2], n = 'a', text(put[ATTEMPT]), n + 2 end
  if not old or not old[SAME] then fields[n + 1], fields[n + 2], n = 'c', put[COLD], n + 2 end
  if put[ENTRY] then fields[n + 1], fields[n + 2], n = 'x', put[ENTRY], n + 2 end
  if put[BOUND] > 0 then fields[n + 1], fields[n + 2], n = 'u', bound_until(put[BOUND]), n + 2 end
  if put[OUTCOME] == '' then gone = 'o'
  elseif put[OUTCOME] then fields[n + 1], fields[n + 2], n = 'o', put[OUTCOME], n + 2 end
  if put[ROW] ~= '' then fields[n + 1], fields[n + 2], n = text(put[EXPECTED_VERSION] + 1), put[ROW], n + 2 end
  if put[BODY] and old then redis.call('HDEL', put[KEY], unpack(PIECES)) end
  if type(put[BODY]) == 'table' then
    for i, piece in ipairs(put[BODY]) do fields[n + 1], fields[n + 2], n = PIECES[i], piece, n + 2 end
  end
  if put[IS_TASK] and (old and old[GRAVE] or DEAD[put[STATE]]) then
    local grave = mourn(put, old)
    if grave then fields[n + 1], fields[n + 2], n = 'd', grave, n + 2 end
    if grave == false then redis.call('HDEL', put[KEY], 'd') end
  end
  redis.call('HSET', put[KEY], unpack(fields, 1, n))
  if gone then redis.call('HDEL', put[KEY], gone) end
end

-- Into the set of its state, which is where lists look.
local function settle(put, old)
  local id, state, was = put[REF], put[STATE], old and old[WAS]
  if was == state and old[SAME] then return end
  if was and was ~= state then move('tasks:' .. was, id, false) end
  move('tasks:' .. state, id, put[CREATED])
  if FINAL[state] and not FINAL[was] then finished[#finished + 1] = id end
end

-- A record that is written twice in one script: what is gathered of the first time must be written before.
local touched = {}
local function touch(ref)
  if touched[ref] then
    settle_moves()
    touched = {}
  end
  touched[ref] = true
end

-- What flush() will write.
local function gather(put, old)
  local ref, is_task = put[REF], put[IS_TASK]
  touch(ref)
  feed[#feed + 1] = put[EVENT]
  if old then
    if old[OLD_ENTRY] and not put[KEEPS] and not put[STAYS] then drop(old[OLD_LANE], old[OLD_ENTRY]) end
    if old[KEPT] and (not put[KEEPS] or put[STATE] ~= 'queued') then move('again:' .. old[OLD_LANE], ref, false) end
    if is_task then count(old[OLD_FAMILY], old[H][FINGERPRINT], old[WAS], -1) end
  end
  if put[ERASE] then
    move('wake', ref, false)
    if old then move(is_task and 'tasks:' .. old[WAS] or 'all:' .. string.sub(ref, 38), ref, false) end
    return
  end
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

local function apply(puts, olds, beside)
  for i, put in ipairs(puts) do prepare(put, olds[i]) end
  if beside[1] then apply_appends(beside[1]) end
  if beside[3] then apply_binds(beside[3]) end
  if beside[4] then apply_permits(beside[4]) end
  for _, add in ipairs(beside[2] or {}) do redis.call('HINCRBY', P .. 'counters', add[1], add[2]) end
  for i, put in ipairs(puts) do write(put, olds[i]) end
  for i, put in ipairs(puts) do gather(put, olds[i]) end
  for _, note in ipairs(beside[5] or {}) do
    note[5] = now
    feed[#feed + 1] = note
  end
end

-- A new task, and nothing beside it: what prepare(), write() and gather() would do to it, in one go.
local function create(_, id, state, attempt, hot, cold, event, wake, lane, family, limit, created, ...)
  local key = P .. 'task:' .. id
  if redis.call('EXISTS', key) == 1 then return {CONFLICT} end
  if state == 'queued' then
    redis.call('HSET', key, 's', state, 'h', hot, 'a', attempt, 'c', cold, 'x', push(lane, id, limit), ...)
  else
    redis.call('HSET', key, 's', state, 'h', hot, 'a', attempt, 'c', cold, ...)
  end
  touch(id)
  feed[#feed + 1] = event
  count(family, '', state, 1)
  move('tasks:' .. state, id, created)
  if wake ~= '' then move('wake', id, wake) end
  return 0
end

local NOTHING = {}
local function read_change(packed)
  local values = {cmsgpack.unpack(packed)}
  if type(values[1]) == 'string' then return {values}, NOTHING end
  local puts, n = {}, values[1]
  for i = 1, n do puts[i] = {cmsgpack.unpack(values[i + 1])} end
  return puts, {values[n + 2], values[n + 3], values[n + 4], values[n + 5], values[n + 6]}
end

local TRUE = 195  -- as msgpack
local function commit(packed)
  if string.byte(packed) == TRUE then return create(cmsgpack.unpack(packed)) end
  local puts, beside = read_change(packed)
  local olds, skipped = {}, {}
  local objection = examine(puts, olds, beside, skipped)
  if objection then return objection end
  apply(puts, olds, beside)
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
