import { expect, test } from 'vitest'
import { createLogger, SimulatedClock } from '#base'
import { MemoryBudget } from './metrics.ts'
import type { SharedInformer } from './shared-informers.ts'

const informersOf = (bytes: readonly number[]): readonly SharedInformer[] =>
  bytes.map((each, index) => ({
    informer: { bytes: each, size: 1 },
    union: { kind: { kind: `Kind${index}` }, id: 'whole' },
  })) as unknown as readonly SharedInformer[]

function setUp(bytes: number[]): { budget: MemoryBudget; warnings: unknown[] } {
  const warnings: unknown[] = []
  const log = createLogger({
    clock: new SimulatedClock(),
    sink: ({ fields }) => {
      warnings.push(fields?.['kinds'])
    },
  })
  return { budget: new MemoryBudget({ bytesMax: 1_000, log, informers: () => informersOf(bytes) }), warnings }
}

test('MemoryBudget checks after a list, and after every 1024th object', () => {
  const { budget, warnings } = setUp([5_000])
  for (let count = 1; count < 1024; count++) budget.check({ isList: false })
  expect(warnings).toHaveLength(0)
  budget.check({ isList: false })
  expect(warnings).toHaveLength(1)
  const listed = setUp([5_000])
  listed.budget.check({ isList: true })
  expect(listed.warnings).toHaveLength(1)
})

test('MemoryBudget names the five largest kinds', () => {
  const { budget, warnings } = setUp([1, 2, 3, 4, 5, 6, 7].map((each) => each * 1024 * 1024))
  budget.check({ isList: true })
  expect(warnings).toEqual([
    ['7', '6', '5', '4', '3'].map((mib) => `Kind${Number(mib) - 1} (whole): ${mib} MiB, 1 objects`),
  ])
})
