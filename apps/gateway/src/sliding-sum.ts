/**
 * Sums over a window of time that slides slice by slice, as parts of scripts in Redis. A sum is a hash from slice to amount.
 * Two functions of a script read it and add to it:
 *
 * - `readSum(key, slice, slices, milliseconds)` returns `used`, what the window of so many slices before this one and this
 *   one holds, and `oldest`, its oldest slice with an amount, or this one. The hash is kept for so many milliseconds.
 * - `addToSum(key, slice, amount)` follows it.
 *
 * To read two dozen slices takes a script longer than all the rest, so the hash also has what was read: the slice in which
 * that was (`-1`), the sum since (`-2`), and the oldest slice (`-3`). In the next slice all are read again. A script that
 * does not know these fields takes them for slices that are over, and deletes them, so that what it adds is not missed.
 */
export const SLIDING_SUM = `
local function readSum(key, slice, slices, milliseconds)
  local known = redis.call('HMGET', key, '-1', '-2', '-3')
  if known[1] and tonumber(known[1]) == slice then
    return { used = tonumber(known[2]), oldest = tonumber(known[3]) }
  end
  local sum = { used = 0, oldest = slice }
  local entries = redis.call('HGETALL', key)
  for i = 1, #entries, 2 do
    local at = tonumber(entries[i])
    if at >= slice - slices then
      sum.used = sum.used + tonumber(entries[i + 1])
      if at < sum.oldest then sum.oldest = at end
    elseif at >= 0 then
      redis.call('HDEL', key, entries[i])
    end
  end
  redis.call('HSET', key, '-1', slice, '-2', sum.used, '-3', sum.oldest)
  redis.call('PEXPIRE', key, milliseconds)
  return sum
end
local function addToSum(key, slice, amount)
  redis.call('HINCRBY', key, slice, amount)
  redis.call('HINCRBY', key, '-2', amount)
end
`;
