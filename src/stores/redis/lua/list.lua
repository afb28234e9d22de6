-- list: records by creation, newest first. Writes nothing.
-- ARGV   2 the latest creation to look at, µs or '+inf'   3 and of that moment only ids below this one, '': all
--        4 at most so many (at most 64)   5 … the sets to look into
-- gives  now, and one each: {ref, state, attempt, h, c, wake µs, 1 if a claim would find it, created µs}

local top, below, most = ARGV[2], ARGV[3], tonumber(ARGV[4])

-- How many of a set come before the place at which we begin. Of one moment there may be thousands (a bulk submission),
-- in the order of their ids.
local function places_before(set)
  if top == '+inf' then return 0 end
  local first = redis.call('ZCOUNT', set, '(' .. top, '+inf')
  local last = below == '' and first or first + redis.call('ZCOUNT', set, top, top)
  while first < last do
    local middle = math.floor((first + last) / 2)
    if redis.call('ZREVRANGE', set, middle, middle)[1] < below then last = middle else first = middle + 1 end
  end
  return first
end

local function is_in_lane(ref, state, cold, entry)
  if not entry or entry == '' or HELD[state] then return 0 end
  local lane = lane_of({cmsgpack.unpack(cold)})
  if string.sub(entry, 1, 1) == '~' then return redis.call('ZSCORE', P .. 'again:' .. lane, ref) and 1 or 0 end
  return #redis.call('XRANGE', P .. 'lane:' .. lane, entry, entry)
end

local found = {}
for i = 5, #ARGV do
  local set = P .. ARGV[i]
  local from = places_before(set)
  local members = redis.call('ZREVRANGE', set, from, from + most - 1, 'WITHSCORES')
  for k = 1, #members, 2 do found[#found + 1] = {members[k], tonumber(members[k + 1])} end
end
table.sort(found, function(a, b)
  if a[2] ~= b[2] then return a[2] > b[2] end
  return a[1] > b[1]
end)

local rows = {now}
for i = 1, math.min(most, #found) do
  local ref = found[i][1]
  local record = redis.call('HMGET', key_of(ref), 's', 'a', 'h', 'c', 'x')
  if record[3] then
    local wake = redis.call('ZSCORE', P .. 'wake', ref) or '0'
    rows[#rows + 1] = {ref, record[1], record[2], record[3], record[4], wake, is_in_lane(ref, record[1], record[4], record[5]),
                       text(found[i][2])}
  else
    rows[#rows + 1] = {ref, '', '0', '', '', '0', 0, text(found[i][2])}
  end
end
return rows
