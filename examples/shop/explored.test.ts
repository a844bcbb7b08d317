import { expect, test } from 'vitest'
import { explore, formatReport } from 'evenkeel/testing'
import { scenario } from './scenario.ts'

test('the shop: the Explorer finds nothing in refused calls, lost answers and crashes', async () => {
  const explored = await explore({
    controllers: scenario.controllers as never,
    scenario: scenario as never,
    // By type of fault: these come first. All of them take a quarter of an hour.
    schedulesMax: 250,
  })
  expect(explored.failures.length, formatReport(explored)).toBe(0)
  expect(explored.schedules).toBeGreaterThan(200)
}, 900_000)
