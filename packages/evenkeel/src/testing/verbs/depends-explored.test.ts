/** Dependencies in every single-fault schedule: whatever crashes, gets lost or comes late, the end is the same. */
import { describe, expect, test } from 'vitest'
import type { ControllerDeclaration } from '#controller'
import { dependsOn } from '#verbs'
import type { DependsOnOptions } from '#verbs'
import { explore } from '../explore/explore.ts'
import type { Explored } from '../explore/explore.ts'
import { formatReport } from '../report/text.ts'
import type { UserStep } from '../scenario/scenario.ts'
import { App, namespace, refsOf, Route } from './depends.fixture.ts'
import type { AppObject } from './depends.fixture.ts'

const address = { path: 'status.address', schema: { type: 'object', required: ['host'], properties: { host: { type: 'string' } } } } as const

function program(options: DependsOnOptions<AppObject, typeof address.schema>): readonly ControllerDeclaration[] {
  const target = dependsOn(App, refsOf, { contract: address, ...options })
  const apps: ControllerDeclaration<typeof App> = {
    for: App,
    reconcile(app, { status }) {
      status.set({ address: { host: `${app.metadata.name}.local` } })
      status.condition('Ready', true)
    },
  }
  const routes: ControllerDeclaration<typeof Route> = {
    for: Route, verbs: [target],
    async reconcile(_, context) {
      // What is no longer known is not said any more, also when this is the end.
      context.status.set({ host: undefined } as never)
      const found = await target.resolve(context)
      context.status.set({ host: found.map(({ contract }) => contract.host).join() })
    },
  }
  return [apps, routes] as unknown as readonly ControllerDeclaration[]
}

const at = (name: string): { name: string, namespace: string } => ({ name, namespace })
const creates = (name: string): UserStep => ({ name: `creates App ${name}`, run: (user) => user.create(App, { metadata: at(name), spec: {} }) })
const refers: UserStep = { name: 'creates Route r to x', run: (user) => user.create(Route, { metadata: at('r'), spec: { to: [{ name: 'x' }] } }) }
const moves: UserStep = { name: 'moves Route r to y', run: async (user) => user.patch(await user.get(Route, at('r')), { spec: { to: [{ name: 'y' }] } }) }
const leaves: UserStep = { name: 'deletes Route r', run: async (user) => user.delete(await user.get(Route, at('r'))) }

async function explored(options: DependsOnOptions<AppObject, typeof address.schema>, steps: readonly UserStep[]): Promise<Explored> {
  return explore({ controllers: () => program(options), scenario: { name: 'routes and apps', steps } })
}

describe('dependsOn explored', () => {
  test.each([
    ['alone', {}, [refers, creates('x')]],
    ['with marks', { mark: true }, [creates('y'), refers, creates('x'), moves, leaves]],
    ['with Usages', { protect: 'whileInUse' }, [refers, creates('x'), leaves]],
    ['with finalizers', { protect: 'finalizer' }, [creates('x'), creates('y'), refers, moves, leaves]],
  ] as const)('%s is silent in every single-fault schedule', async (_, options, steps) => {
    const result = await explored(options, steps)
    expect(formatReport(result)).toContain('Nothing found')
    expect(result.failures).toEqual([])
    expect(result.left).toBe(0)
  }, 300_000)
})
