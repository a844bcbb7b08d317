import { expect, test } from 'vitest'
import { explore, formatReport } from 'evenkeel/testing'
import { asOnTheSlide } from './as-on-the-slide.ts'
import { fixed } from './fixed.ts'
import { scenario } from './scenario.ts'

test('the Explorer finds the mistakes of the sample from the slides', async () => {
  const explored = await explore({ controllers: asOnTheSlide, scenario })
  const rules = new Set(explored.failures.map(({ rule }) => rule))
  expect(rules).toContain('deletion-first')
  expect(rules).toContain('cleanup')
  const report = formatReport(explored)
  expect(report).toContain('adds a finalizer to Bucket default/photos, which is being deleted')
  expect(report).toContain('as-on-the-slide.ts:')
})

test('with `cleanup` the Explorer finds nothing', async () => {
  const explored = await explore({ controllers: fixed, scenario })
  expect(explored.failures).toEqual([])
  expect(explored.schedules).toBeGreaterThan(50)
})
