-- record: the beginning of every script: names, the clock, how a record is kept.
-- KEYS   1 prefix  "{hf:0}:", the partition's hash tag: every key of a script begins with it, so all are in one slot
-- ARGV   1 the latest time that the caller has seen here, µs: a clock that steps back stands still instead
-- gives  every script: its time in µs, then what its header says
--
-- A record is named by its ref: a task by its id, any other by "<id>:<kind>". What there is, each under the prefix
-- (docs/reference/redis-keys.md tells it to operators):
--   task:<id> <kind>:<id>  hash    s state  a attempt  h, c header (msgpack, fields below)  x entry in the lane's stream,
--                                  "~" before it: kept pending for a retry  d entry in the DLQ  u bound until  b b2 … b6
--                                  body in pieces  o outcome, "=" and itself, or ">": apart  1, 2 … history by version
--   <record>:body :outcome string  where they are too long for the hash
--   log:<owner>            hash    <log>\0<key> → <number>:<bytes>
--   tasks:<state>          zset    ids of tasks by creation, µs; all:<kind> the same for other kinds
--   done                   stream  i → ids of finished tasks, by the moment they ended; put_off  zset  those of them that a
--                                  key still names, by the moment that ends
--   wake                   zset    refs by the moment their timer rings, µs
--   lane:<lane>            stream  claimable and held tasks, group workers; a lane is <queue>|<type>|<priority>|<gate>
--   again:<lane>           zset    ids that are queued and kept pending there, by the moment they may be handed out, µs
--   streams                set     the lanes that there are
--   lanes:<queue>          zset    the lanes that have something to claim, by priority, then by turn
--   looks                  zset    lanes to be shown again at a moment, µs
--   shut:<gate>            set     the lanes that found their gate full: shown again when a permit comes back
--   permit:<key>           zset    <holder>:<epoch> by the moment it expires, +inf: never
--   counts failures        hash    <queue>|<type>|<state> → n   <fingerprint>|<state> → n
--   counters               hash    name → n
--   bind:<scope>\0<key>    string  id and hash, with a ttl
--   feed                   stream  one entry per script: e → the events of all that it committed
--   trimmed                string  the last entry that was trimmed off the feed
--   turn                   string  the number of turns taken so far
local P = KEYS[1]

-- h and c are msgpack values one after the other: {cmsgpack.unpack(h)} makes one table and no more.
-- h, what changes. Times are relative to UPDATED_AT; false: none.
local VERSION, UPDATED_AT, EPOCH, LEASE_GRANTED, LEASE_UNTIL, WORKER, STARTED_AT, DUE_AT = 1, 2, 3, 4, 5, 6, 7, 8
local ENDED_BY, PROGRESS, HOLDS, NONCE, FINGERPRINT, REQUESTED, NOTE = 9, 10, 11, 12, 13, 14, 15
-- c, what nearly never does. CREATED_AT is a text, as sorted sets want it.
local QUEUE, TYPE, TENANT, PRIORITY, BY_TYPE, GATE, GATE_LIMIT, LEASE, DEADLINE, CREATED_AT = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10

local HELD = {dispatched = true, accepted = true, running = true}
local FINAL = {succeeded = true, failed = true, cancelled = true, discarded = true}

local time = redis.call('TIME')
local now = math.max(time[1] * 1000000 + time[2], tonumber(ARGV[1]))

-- Lua's own conversion would round what has more than fourteen digits, and Redis' is slow.
local texts = {}
local function text(number)
  local known = texts[number]
  if not known then
    known = string.format('%.0f', number)
    texts[number] = known
  end
  return known
end

local function key_of(ref)
  if #ref == 36 then return P .. 'task:' .. ref end
  return P .. string.sub(ref, 38) .. ':' .. string.sub(ref, 1, 36)
end

local function lane_of(c)
  return c[QUEUE] .. '|' .. (c[BY_TYPE] == 1 and c[TYPE] or '') .. '|' .. c[PRIORITY] .. '|' .. c[GATE]
end

local function moment(h, field) return h[field] and h[UPDATED_AT] + h[field] or 0 end

-- domain::wake_for() of a held task.
local function held_until(h, c)
  local lease_until = moment(h, LEASE_UNTIL)
  return c[DEADLINE] > 0 and math.min(lease_until, c[DEADLINE]) or lease_until
end

-- Body and outcome as they are kept: in the hash, the body in pieces that each fit into a listpack, or apart.
-- `r` is what HMGET gave: the pieces stand in it from `first` on.
local function body_of(key, r, first)
  if not r[first] then return redis.call('GET', key .. ':body') or '' end
  if not r[first + 1] then return r[first] end
  for i = first + 2, first + 5 do r[i] = r[i] or '' end
  return table.concat(r, '', first, first + 5)
end
local function outcome_of(key, o)
  if not o then return '' end
  return o == '>' and redis.call('GET', key .. ':outcome') or string.sub(o, 2)
end

-- A record as scripts give it: {ref, state, attempt, h, c, wake µs, body, outcome}; nil: there is none.
local function read(ref, wake)
  local key = key_of(ref)
  local r = redis.call('HMGET', key, 's', 'a', 'h', 'c', 'o', 'b', 'b2', 'b3', 'b4', 'b5', 'b6')
  if not r[3] then return nil end
  return {ref, r[1], r[2], r[3], r[4], wake, body_of(key, r, 6), outcome_of(key, r[5])}
end
