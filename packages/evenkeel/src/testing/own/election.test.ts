import { expect, test } from 'vitest'
import { explore } from '../explore/explore.ts'
import { formatReport } from '../report/text.ts'
import { electionSubject } from './election.fixture.ts'

test('leader election of two processes keeps the rules in every schedule with one fault, at the lease too', async () => {
  const explored = await explore(electionSubject())
  expect(explored.failures.map(({ rule }) => rule), formatReport(explored)).toEqual([])
  expect(explored.schedules).toBeGreaterThan(100)
})
