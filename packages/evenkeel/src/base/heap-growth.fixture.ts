/** A program with a small heap that makes 64 MiB of buffers, and ends when the young generation was collected for them. */
import { PerformanceObserver } from 'node:perf_hooks'
import { SystemClock } from './clock.ts'
import { keepHeapHeadroom } from './heap-growth.ts'

const mebibyte = 1_048_576
const [minor, forced] = [1, 4]

const observer = new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const { kind, flags } = (entry as { detail?: { kind: number; flags: number } }).detail ?? { kind: 0, flags: 0 }
    if (kind !== minor || (flags & forced) === 0) continue
    process.stdout.write('collected')
    process.exit()
  }
})
observer.observe({ entryTypes: ['gc'] })
keepHeapHeadroom(new SystemClock())
const held: Buffer[] = []
for (let count = 0; count < 64; count++) held.push(Buffer.alloc(mebibyte, 1))
