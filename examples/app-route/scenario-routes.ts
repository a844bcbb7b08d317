/**
 * The scenario of Routes. The user writes the status of the App: Routes know an App only by its contract.
 */
import type { ControllerDeclaration } from 'evenkeel'
import type { UserStep } from 'evenkeel/testing'
import { RouterInMemory } from './in-memory.ts'
import { App, Route } from './kinds.ts'
import type { Router } from './kinds.ts'
import { routeController } from './routes.ts'

const at = (name: string): { name: string; namespace: string } => ({ name, namespace: 'default' })
const lastTransitionTime = '2026-01-01T00:00:00Z'

const steps: readonly UserStep[] = [
  {
    name: 'creates Route shop to App web',
    run: (user) =>
      user.create(Route, { metadata: at('shop'), spec: { hostnames: ['shop.local'], targetRefs: [{ name: 'web' }] } }),
  },
  {
    name: 'makes App web ready',
    async run(user) {
      const app = await user.create(App, { metadata: at('web'), spec: { command: 'serve', port: 5000 } })
      const ready = { type: 'Ready', status: 'True' as const, reason: 'Running', message: '', lastTransitionTime }
      await user.patchStatus(app, {
        routeContract: { host: '127.0.0.1', port: 5000 },
        conditions: [ready],
        observedGeneration: 1,
      })
    },
  },
  { name: 'deletes App web', run: async (user) => user.delete(await user.get(App, at('web'))) },
  { name: 'deletes Route shop', run: async (user) => user.delete(await user.get(Route, at('shop'))) },
]

interface External {
  readonly router: Router
}

export const controllers = ({ external: { router } }: { external: External }): ControllerDeclaration[] => [
  routeController(router),
]

// A failed back-reference is retried every five minutes, and the Explorer refuses four times.
export const scenario = {
  name: 'routes',
  steps,
  kinds: [App],
  quietMs: 1_300_000,
  external: (): External => ({ router: new RouterInMemory() }),
}
