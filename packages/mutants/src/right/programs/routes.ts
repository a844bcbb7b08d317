/** A Route uses the address of an Upstream, by `dependsOn` with a contract; each kind has its controller. */
import { defineController, defineKind, dependsOn } from 'evenkeel'
import type { ObjectOf } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Upstream = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Upstream',
  spec: z.object({ port: z.number().int().min(1).max(65535) }),
  status: z.object({ address: z.string().optional() }),
})

const Route = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Route',
  spec: z.object({ upstreams: z.array(z.string().min(1)), path: z.string() }),
  status: z.object({ backends: z.array(z.string()).optional() }),
  reports: ['dependencies'],
})

const upstream = dependsOn(Upstream, (route: ObjectOf<typeof Route>) => route.spec.upstreams, {
  contract: { path: 'status.address', schema: z.string() },
})

export const controllers = () => [
  defineController({
    for: Upstream,
    reconcile({ metadata: { name }, spec }, { status }) {
      status.set({ address: `${name}.local:${spec.port}` })
      status.condition('Ready', true)
    },
  }),
  defineController({
    for: Route,
    owns: [ConfigMap],
    verbs: [upstream],
    async reconcile(route, context) {
      const found = await upstream.resolve(context)
      const backends = found.map(({ contract }) => contract)
      await context.children.apply(ConfigMap, { data: { path: route.spec.path, backends: backends.join() } })
      context.status.set({ backends })
      context.status.condition('Ready', true)
    },
  }),
]

export const scenario = {
  name: 'routes',
  steps: [
    creates(Upstream, 'blue', { spec: { port: 80 } }),
    creates(Route, 'front', { spec: { upstreams: ['blue'], path: '/' } }),
    changes(Upstream, 'blue', { spec: { port: 81 } }),
    changes(Route, 'front', { spec: { path: '/shop' } }),
    deletes(Route, 'front'),
  ],
}
