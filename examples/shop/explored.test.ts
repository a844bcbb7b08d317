import { expect, test } from 'vitest'
import { explore, formatReport } from 'evenkeel/testing'
import { scenario } from './scenario.ts'

test('the shop: the Explorer finds nothing in any single fault', async () => {
  const explored = await explore({
    controllers: scenario.controllers as never,
    scenario: scenario as never,
  })
  expect(explored.failures.length, formatReport(explored)).toBe(0)
  expect(explored.left).toBe(0)
  expect(explored.schedules).toBeGreaterThan(200)
}, 900_000)
