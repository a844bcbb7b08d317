import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decide, type OwnerState } from './attempts.ts'
import { noFacts } from './node.ts'

function situation(
  standings: readonly OwnerState[],
  { finalizers = '', hasDependents = false } = {},
): Parameters<typeof decide>[0] {
  const owners = standings.map((_, at) => ({ apiVersion: 'v1', kind: 'Owner', name: `o${at}`, uid: `o${at}` }))
  return {
    facts: {
      ...noFacts,
      owners,
      hasOrphanFinalizer: finalizers === 'orphan',
      hasForegroundFinalizer: finalizers === 'foreground',
    },
    ownerStates: standings,
    hasDependents,
  }
}

test.each<[OwnerState[], { finalizers?: string; hasDependents?: boolean }, object]>([
  [[], {}, { do: 'keep' }],
  [['solid'], {}, { do: 'keep' }],
  [['solid', 'dangling', 'waiting'], {}, { do: 'strip', uids: new Set(['o1', 'o2']) }],
  [['orphaned', 'solid'], {}, { do: 'strip', uids: new Set(['o0']) }],
  [['orphaned', 'dangling'], {}, { do: 'strip', uids: new Set(['o0']) }],
  [['dangling'], {}, { do: 'delete', propagation: 'Background' }],
  [['dangling'], { finalizers: 'orphan' }, { do: 'delete', propagation: 'Orphan' }],
  [['dangling'], { finalizers: 'foreground' }, { do: 'delete', propagation: 'Foreground' }],
  [['waiting'], {}, { do: 'delete', propagation: 'Background' }],
  [['waiting', 'dangling'], { hasDependents: true }, { do: 'delete', propagation: 'Foreground' }],
  [['waiting'], { hasDependents: true, finalizers: 'orphan' }, { do: 'delete', propagation: 'Foreground' }],
])('decide: %j with %j', (standings, options, expected) => {
  expect(decide(situation(standings, options))).toEqual(expected)
})

test('decide: an owner that is named twice and stands by one of the names is not taken out', () => {
  const { facts, ...rest } = situation(['dangling', 'solid'])
  const owners = facts.owners.map((owner) => ({ ...owner, uid: 'same' }))
  expect(decide({ ...rest, facts: { ...facts, owners } })).toEqual({ do: 'keep' })
})

test('decide: whatever the owners, nothing with a solid or orphaning one is deleted, and a solid one is never taken out', () => {
  const standing = fc.constantFrom<OwnerState>('solid', 'waiting', 'dangling', 'orphaned')
  fc.assert(
    fc.property(fc.array(standing, { maxLength: 5 }), fc.boolean(), (standings, hasDependents) => {
      const decision = decide(situation(standings, { hasDependents }))
      if (decision.do === 'delete') expect(standings.some((one) => one === 'solid' || one === 'orphaned')).toBe(false)
      if (decision.do === 'strip')
        for (const uid of decision.uids) expect(standings[Number(uid.slice(1))]).not.toBe('solid')
      if (decision.do === 'keep') expect(standings.every((one) => one === 'solid')).toBe(true)
    }),
  )
})
