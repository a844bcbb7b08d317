/** A Bundle joins all ConfigMaps with a label into one, and is reconciled when one of them comes, changes or goes. */
import { defineController, defineKind, isOwnedBy, setControllerReference } from 'evenkeel'
import { watching } from 'evenkeel/controller'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Bundle = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Bundle',
  spec: z.object({ title: z.string() }),
  status: z.object({ parts: z.number().int().optional() }),
})

export const controllers = () => [
  defineController({
    for: Bundle,
    owns: [ConfigMap],
    watches: [
      watching(ConfigMap, {
        map: ({ metadata: { namespace } }, { cache }) =>
          cache
            .list(Bundle)
            .filter(({ metadata }) => metadata.namespace === namespace)
            .map(({ metadata }) => ({ name: metadata.name, namespace: metadata.namespace ?? 'default' })),
      }),
    ],
    async reconcile(bundle, { client, status }) {
      const { name, namespace = 'default' } = bundle.metadata
      const { items } = await client.list(ConfigMap, { namespace })
      const parts = items
        .filter((one) => one.data?.['part'] !== undefined && !isOwnedBy(one, bundle))
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ data }) => data?.['part'] ?? '')
        .sort()
      const data = { title: bundle.spec.title, parts: parts.join('\n') }
      const joined = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${name}-bundle`, namespace }, data }
      await client.apply(setControllerReference(bundle, joined), { force: true })
      status.set({ parts: parts.length })
    },
  }),
]

export const scenario = {
  name: 'selector',
  steps: [
    creates(ConfigMap, 'one', { data: { part: 'a' } }),
    creates(Bundle, 'all', { spec: { title: 'All' } }),
    creates(ConfigMap, 'two', { data: { part: 'b' } }),
    changes(ConfigMap, 'one', { data: { part: 'c' } }),
    deletes(ConfigMap, 'two'),
    deletes(Bundle, 'all'),
  ],
}
