import { expect, test } from 'vitest'
import { explore } from '../explore.ts'
import { formatReport } from '../report/text.ts'
import { electionSubject } from './election.fixture.ts'

// The whole of the first tier, and as many pairs as a test may take.
test(
  'leader election of two processes keeps the rules in every schedule with one fault, and in many with two, at the lease too',
  { timeout: 300_000 },
  async () => {
    const explored = await explore({ ...electionSubject(), tier: 2, schedulesMax: 450 })
    expect(
      explored.failures.map(({ rule }) => rule),
      formatReport(explored),
    ).toEqual([])
    expect(explored.schedules).toBeGreaterThan(400)
  },
)
