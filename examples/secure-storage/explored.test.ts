import { expect, test } from 'vitest'
import { explore, formatReport } from 'evenkeel/testing'
import { controllers, scenario } from './scenario.ts'

test('SecureStorage: the Explorer finds nothing in any single fault', async () => {
  const explored = await explore({ controllers, scenario })
  expect(explored.failures.length, formatReport(explored)).toBe(0)
  expect(explored.schedules).toBeGreaterThan(200)
}, 600_000)
