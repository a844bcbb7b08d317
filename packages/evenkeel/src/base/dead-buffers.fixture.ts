/**
 * A program that makes buffers which are garbage at once, while it keeps its heap: prints how many bytes it made, and the
 * most that it ever held.
 */
import { getHeapStatistics } from 'node:v8'
import { SystemClock } from './clock.ts'
import { keepHeapHeadroom } from './heap-growth.ts'

const [rounds, buffers, bytes] = [40, 100, 20_000]
const clock = new SystemClock()
const end = keepHeapHeadroom(clock)
const before = getHeapStatistics().external_memory
let most = 0
for (let round = 0; round < rounds; round++) {
  for (let i = 0; i < buffers; i++) Buffer.allocUnsafeSlow(bytes)
  most = Math.max(most, getHeapStatistics().external_memory - before)
  await new Promise<void>((resolve) => clock.after(15, resolve))
}
end()
process.stdout.write(JSON.stringify({ made: rounds * buffers * bytes, most, isExposed: 'gc' in globalThis }))
