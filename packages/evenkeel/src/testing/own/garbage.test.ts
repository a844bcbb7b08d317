import { expect, test } from 'vitest'
import { explore } from '../explore/explore.ts'
import { formatReport } from '../report/text.ts'
import { garbageSubject } from './garbage.fixture.ts'

test('garbageCollector keeps the rules in every schedule with one fault', async () => {
  const explored = await explore(await garbageSubject())
  expect(explored.failures.map(({ rule }) => rule), formatReport(explored)).toEqual([])
  expect(explored.schedules).toBeGreaterThan(100)
})
