/**
 * Apps that publish an address, and Routes that depend on them.
 */
import { defineKind, type ObjectOf, type Stored } from '#api'
import type { Client } from '#client'
import type { ControllerDeclaration } from '#controller'
import { startTestPlane, type TestPlane, type TestPlaneOptions } from '../live/test-plane.ts'

export const App = defineKind({
  group: 'app.test.dev',
  version: 'v1',
  kind: 'App',
  spec: { type: 'object', properties: { needs: { type: 'string' } } },
  status: { type: 'object', properties: { address: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } },
  reports: ['dependencies'],
})

const reference = {
  type: 'object',
  required: ['name'],
  properties: {
    group: { type: 'string' },
    kind: { type: 'string' },
    name: { type: 'string' },
    namespace: { type: 'string' },
  },
} as const

export const Route = defineKind({
  group: 'route.test.dev',
  version: 'v1',
  kind: 'Route',
  spec: { type: 'object', properties: { to: { type: 'array', items: reference } } },
  status: { type: 'object', properties: { host: { type: 'string' } } },
  reports: ['dependencies'],
})

export type AppObject = Stored<ObjectOf<typeof App>>
export type RouteObject = Stored<ObjectOf<typeof Route>>

export const namespace = 'default'
export const refsOf = (route: RouteObject): NonNullable<RouteObject['spec']['to']> => route.spec.to ?? []

/** A plane on a clock that stands still, with both kinds. */
export function startWorld(controllers: readonly unknown[], options: TestPlaneOptions = {}): Promise<TestPlane> {
  return startTestPlane({
    kinds: [App, Route],
    simulated: true,
    ...options,
    controllers: controllers as readonly ControllerDeclaration[],
  })
}

export function createApp(client: Client, name: string, within = namespace): Promise<unknown> {
  return client.create(App, { metadata: { name, namespace: within }, spec: {} })
}

export function createRoute(
  client: Client,
  name: string,
  ...to: readonly (string | NonNullable<RouteObject['spec']['to']>[number])[]
): Promise<unknown> {
  return client.create(Route, {
    metadata: { name, namespace },
    spec: { to: to.map((one) => (typeof one === 'string' ? { name: one } : one)) },
  })
}

/** What the controller of an App would say. */
export async function makeReady(
  client: Client,
  name: string,
  { within = namespace, address, isReady = true }: { within?: string; address?: object; isReady?: boolean } = {},
): Promise<void> {
  const app = await client.get(App, { namespace: within, name })
  const { generation } = app.metadata
  await client.patchStatus(app, {
    observedGeneration: generation,
    ...(address !== undefined && { address }),
    conditions: [
      {
        type: 'Ready',
        status: isReady ? 'True' : 'False',
        reason: 'Test',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
        observedGeneration: generation,
      },
    ],
  } as never)
}

/** What a Route says about its dependencies: `False NotFound`. */
export async function verdictOn(client: Client, name = 'r'): Promise<string> {
  const { status } = await client.get(Route, { namespace, name })
  const condition = status?.conditions?.find(({ type }) => type === 'DependenciesReady')
  return condition ? `${condition.status} ${condition.reason}` : ''
}
