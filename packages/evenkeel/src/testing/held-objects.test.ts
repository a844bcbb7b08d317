/** An object that the program has deleted, and that only the finalizer of another client still holds. */
import { expect, test } from 'vitest'
import { defineKind } from '#api'
import type { Client } from '#client'
import type { ControllerDeclaration } from '#controller'
import type { ManagedContext } from '#manager'
import { explore } from './explore.ts'
import type { Scenario } from './scenario.ts'

const names = { group: 'demo.example.com', version: 'v1', scope: 'Cluster' } as const
const spec = { type: 'object', properties: { parts: { type: 'integer' } } } as const
const Machine = defineKind({ ...names, kind: 'Machine', spec })
const Part = defineKind({ ...names, kind: 'Part', spec })

type Machines = ControllerDeclaration<typeof Machine, ManagedContext>
type Parts = ControllerDeclaration<typeof Part, ManagedContext>

/** Makes a Part, or deletes it. */
const machines: Machines = {
  for: Machine,
  watches: [],
  owns: [Part],
  async reconcile({ metadata, spec: { parts = 0 } = {} }, { client, signal }) {
    const found = await client.find(Part, { name: metadata.name })
    if (parts === 0 && found) await client.delete(found, { ignoreNotFound: true, signal })
    if (parts === 0 || found) return
    const owner = { apiVersion: Machine.apiVersion, kind: Machine.kind, name: metadata.name, uid: metadata.uid }
    await client.create(
      Part,
      { metadata: { name: metadata.name, ownerReferences: [{ ...owner, controller: true }] }, spec: { parts } },
      { signal },
    )
  },
}
/** Has something to clean up, so each Part has a finalizer. */
const parts = (cleanup: NonNullable<Parts['cleanup']>): Parts => ({ for: Part, reconcile: () => undefined, cleanup })

const scenario: Omit<Scenario, 'controllers'> = {
  name: 'machines',
  kinds: [Machine, Part],
  steps: [
    {
      name: 'creates a Machine with a Part',
      run: (user: Client) => user.create(Machine, { metadata: { name: 'a' }, spec: { parts: 1 } }),
    },
    {
      name: 'makes it empty',
      run: async (user: Client) => user.patch(await user.get(Machine, { name: 'a' }), { spec: { parts: 0 } }),
    },
    { name: 'changes nothing that counts', run: async (user: Client) => user.get(Machine, { name: 'a' }) },
  ],
}
/** What is said about Parts that another client holds. */
async function findingsWith(cleanup: NonNullable<Parts['cleanup']>): Promise<readonly string[]> {
  const controllers = () => [machines, parts(cleanup)] as never
  const { failures } = await explore({ controllers, scenario: scenario as never, stories: 0 })
  return failures.flatMap(({ message, deviations }) =>
    deviations.some(({ action }) => action.type === 'finalize') ? [message] : [],
  )
}

test('is no leftover of the program', async () => {
  expect(await findingsWith(() => undefined)).toEqual([])
})

test('is a leftover while the program still holds it', async () => {
  const messages = await findingsWith(({ metadata: { finalizers = [] } }) =>
    finalizers.length > 1 ? { park: 'an event that never comes' } : undefined,
  )
  expect(messages.join()).toMatch(/Part a/)
})
