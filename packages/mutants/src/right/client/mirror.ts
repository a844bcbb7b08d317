/** A Mirror copies the Secret of a user into a Secret of its own, and follows its changes. */
import { defineController, defineKind, setControllerReference } from 'evenkeel'
import { watching } from 'evenkeel/controller'
import { Secret } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Mirror = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Mirror',
  spec: z.object({ source: z.string().min(1) }),
  status: z.object({ isFound: z.boolean().optional() }),
})

export const controllers = () => [
  defineController({
    for: Mirror,
    owns: [Secret],
    watches: [
      watching(Secret, {
        map: ({ metadata: { name, namespace } }, { cache }) =>
          cache
            .list(Mirror)
            .filter((mirror) => mirror.spec.source === name && mirror.metadata.namespace === namespace)
            .map(({ metadata }) => ({ name: metadata.name, namespace: metadata.namespace ?? 'default' })),
      }),
    ],
    async reconcile(mirror, { client, status }) {
      const { name, namespace = 'default' } = mirror.metadata
      const source = await client.find(Secret, { name: mirror.spec.source, namespace })
      status.set({ isFound: source !== undefined })
      status.condition('Ready', source !== undefined)
      if (!source) return { park: `Secret ${mirror.spec.source} to be created` }
      const copy = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: `${name}-copy`, namespace },
        data: source.data,
      }
      await client.apply(setControllerReference(mirror, copy), { force: true })
      return undefined
    },
  }),
]

export const scenario = {
  name: 'mirror',
  steps: [
    creates(Mirror, 'shop', { spec: { source: 'login' } }),
    creates(Secret, 'login', { data: { password: btoa('open-sesame-1') } }),
    changes(Secret, 'login', { data: { password: btoa('open-sesame-2') } }),
    deletes(Mirror, 'shop'),
  ],
}
