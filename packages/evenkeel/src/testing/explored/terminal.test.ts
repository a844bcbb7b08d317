/** A program that refuses what it cannot do: its objects say so in every single-fault schedule, although no run is retried. */
import { expect, test } from 'vitest'
import { defineKind } from '#api'
import { TerminalError, type ControllerDeclaration } from '#controller'
import { explore } from '../explore.ts'
import type { UserStep } from '../scenario.ts'

const Thing = defineKind({
  group: 'test.dev',
  version: 'v1',
  kind: 'Thing',
  spec: { type: 'object', required: ['size'], properties: { size: { type: 'integer' } } },
  status: { type: 'object', properties: { size: { type: 'integer' } } },
} as const)

const things: ControllerDeclaration<typeof Thing> = {
  for: Thing,
  reconcile({ spec }, { status }) {
    status.set({ size: undefined })
    if (spec.size < 0) throw new TerminalError('spec.size must not be negative')
    status.set({ size: spec.size })
  },
}

const at = { name: 'a', namespace: 'default' }
const sets = (size: number): UserStep => ({
  name: `sets size to ${size}`,
  run: async (user) => user.patch(await user.get(Thing, at), { spec: { size } }),
})

test('F1: a terminal error is silent in every single-fault schedule: a status that was not written is written again', async () => {
  const { failures } = await explore({
    controllers: () => [things],
    scenario: {
      name: 'terminal',
      steps: [
        { name: 'creates a', run: (user) => user.create(Thing, { metadata: at, spec: { size: -1 } }) },
        sets(1),
        sets(-2),
      ],
    },
  })
  expect(failures.map(({ rule, about, message }) => `${rule} ${about}: ${message}`)).toEqual([])
}, 120_000)
