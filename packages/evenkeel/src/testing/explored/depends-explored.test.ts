/** Dependencies in every single-fault schedule: whatever crashes, gets lost or comes late, the end is the same. */
import { describe, expect, test } from 'vitest'
import type { ControllerDeclaration } from '#controller'
import { dependsOn, type DependsOnOptions } from '#verbs'
import { explore } from '../explore.ts'
import type { Failure } from '../failures.ts'
import { formatReport } from '../report/text.ts'
import type { RuleException, UserStep } from '../scenario.ts'
import { App, namespace, refsOf, Route, type AppObject } from './depends.fixture.ts'

const address = {
  path: 'status.address',
  schema: { type: 'object', required: ['host'], properties: { host: { type: 'string' } } },
} as const

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
    for: Route,
    verbs: [target],
    async reconcile(_, context) {
      // What is no longer known is not said any more, also when this is the end.
      context.status.set({ host: undefined } as never)
      const found = await target.resolve(context)
      context.status.set({ host: found.map(({ contract }) => contract.host).join() })
    },
  }
  return [apps, routes] as unknown as readonly ControllerDeclaration[]
}

const at = (name: string): { name: string; namespace: string } => ({ name, namespace })
const creates = (name: string): UserStep => ({
  name: `creates App ${name}`,
  run: (user) => user.create(App, { metadata: at(name), spec: {} }),
})
const refers: UserStep = {
  name: 'creates Route r to x',
  run: (user) => user.create(Route, { metadata: at('r'), spec: { to: [{ name: 'x' }] } }),
}
const moves: UserStep = {
  name: 'moves Route r to y',
  run: async (user) => user.patch(await user.get(Route, at('r')), { spec: { to: [{ name: 'y' }] } }),
}
const leaves: UserStep = { name: 'deletes Route r', run: async (user) => user.delete(await user.get(Route, at('r'))) }

const exceptions: readonly RuleException[] = [
  { rule: 'truth', about: 'App', because: 'what Routes write on an App is not what its own status speaks of' },
]

/** A Route that cannot be served refers to the App as well: as long as it is there, what it wrote on the App is right. */
function isOfPoison({ deviations, about, seen }: Failure): boolean {
  return (
    about.startsWith('App ') &&
    deviations.every(({ action }) => action.type === 'poison') &&
    deviations.length === 1 &&
    seen <= 2
  )
}

describe('dependsOn explored', () => {
  test.each([
    ['alone', {}, [refers, creates('x')]],
    ['with marks', { annotate: true }, [creates('y'), creates('x'), refers, moves, leaves]],
    ['with Usages', { protect: 'whileInUse' }, [creates('x'), refers, leaves]],
    ['with finalizers', { protect: 'finalizer' }, [creates('x'), refers, leaves]],
  ] as const)(
    '%s is silent in every single-fault schedule',
    async (_, options, steps) => {
      const explored = await explore({
        controllers: () => program(options),
        scenario: { name: 'routes and apps', steps, exceptions },
      })
      const failures = explored.failures.filter((failure) => !isOfPoison(failure))
      expect(failures.length === 0 ? '' : formatReport(explored)).toBe('')
      expect(explored.left).toBe(0)
    },
    600_000,
  )
})
