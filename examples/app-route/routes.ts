/**
 * The controller of Routes: waits for its target Apps, takes their address from their contract, and keeps a visible
 * back-reference on them.
 */
import { dependsOn } from 'evenkeel'
import type { ControllerDeclaration } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { App, Route } from './kinds.ts'
import type { RouteObject, Router } from './kinds.ts'

const contract = {
  path: 'status.routeContract',
  schema: {
    type: 'object',
    required: ['host', 'port'],
    properties: { host: { type: 'string' }, port: { type: 'integer' } },
  },
} as const

export function routeController(router: Router): ControllerDeclaration<typeof Route, ManagedContext> {
  const app = dependsOn(
    App,
    (route: RouteObject) => route.spec.targetRefs.map(({ name, pathPrefix = '/' }) => ({ name, pathPrefix })),
    { contract, annotate: 'used-by.multi.ch' },
  )
  return {
    for: Route,
    verbs: [app],
    async reconcile(route, context) {
      const { status } = context
      const {
        metadata: { uid },
        spec: { hostnames },
      } = route
      const waitsFor = (await app.find(context)).find(({ isReady }) => !isReady)
      if (waitsFor) {
        // Removes a route whose App is gone: a 503 is better than the response of another App.
        await router.removeRoutes(uid)
        status.set({ backends: undefined })
        status.condition('Ready', false, {
          reason: 'WaitsForApp',
          message: `App ${(waitsFor.reference as { name: string }).name}: ${waitsFor.message}`,
        })
      }
      const targets = await app.resolve(context)
      const routes = hostnames.flatMap((hostname) =>
        targets.map(({ contract: { host, port }, reference }) => ({
          hostname,
          pathPrefix: (reference as { pathPrefix?: string }).pathPrefix ?? '/',
          to: `http://${host}:${port}`,
        })),
      )
      await router.ensureRoutes(uid, routes)
      status.set({ backends: targets.map(({ contract: { host, port } }) => `${host}:${port}`) })
      status.condition('Ready', true, { reason: 'Routed' })
    },
    async cleanup({ metadata: { uid } }) {
      await router.removeRoutes(uid)
    },
  }
}
