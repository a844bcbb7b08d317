import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { growingPercent } from './heap-growth.ts'

const source = fileURLToPath(new URL('heap-growth.ts', import.meta.url))

/** Full collections of a process that reads bodies, with a heap of so many megabytes. */
async function collections(megabytes: number, call: 'keepHeapHeadroom(clock)' | ''): Promise<number> {
  const program = `
    const { keepHeapHeadroom } = await import(process.argv[1])
    const clock = { after: (ms, call) => { const timer = setTimeout(call, ms); return () => clearTimeout(timer) } }
    const end = ${call || '() => undefined'}
    const { PerformanceObserver, constants } = await import('node:perf_hooks')
    let count = 0
    new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries()) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) count++
    }).observe({ entryTypes: ['gc'] })
    const live = Array.from({ length: 300_000 }, (_, index) => ({ index, text: 'x' + index }))
    for (let turn = 0; turn < 400; turn++) {
      for (let body = 0; body < 4; body++) Buffer.alloc(262_144)
      await new Promise((resolve) => setImmediate(resolve))
    }
    end()
    console.log(count, live.length)`
  const { stdout } = await promisify(execFile)(process.execPath, [
    `--max-old-space-size=${megabytes}`,
    '--import',
    'tsx',
    '--input-type=module',
    '--eval',
    program,
    source,
  ])
  return Number(stdout.split(' ')[0])
}

test('keepHeapHeadroom makes full collections of a small heap rarer', async () => {
  const [usual, rarer] = await Promise.all([collections(512, ''), collections(512, 'keepHeapHeadroom(clock)')])
  expect(rarer).toBeLessThan(usual)
})

test.each([
  [0, 400],
  [24, 133],
  [64, 50],
  [400, 30],
])('keepHeapHeadroom gives %s MiB of memory %s percent', (mebibytes, percent) => {
  expect(growingPercent(mebibytes * 1_048_576)).toBe(percent)
})
