/** A Shelf takes ConfigMaps with its label and without an owner, by hand: users make them, the Shelf owns them. */
import { defineController, defineKind, isNotFound, setControllerReference } from 'evenkeel'
import { watching } from 'evenkeel/controller'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates } from '../steps.ts'

const Shelf = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Shelf',
  spec: z.object({ topic: z.string() }),
  status: z.object({ books: z.number().int().optional() }),
})

export const controllers = () => [
  defineController({
    for: Shelf,
    owns: [ConfigMap],
    watches: [
      watching(ConfigMap, {
        map: ({ metadata: { labels = {}, namespace = 'default' } }) =>
          labels['shelf'] === undefined ? [] : [{ name: labels['shelf'], namespace }],
      }),
    ],
    rbac: [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['patch', 'create'] },
      { apiGroups: ['right.dev'], resources: ['shelves', 'shelfs'], verbs: ['get'] },
    ],
    async reconcile(shelf, { client, status }) {
      const { name, namespace = 'default', uid } = shelf.metadata
      const index = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${name}-index`, namespace } }
      await client.apply(setControllerReference(shelf, { ...index, data: { topic: shelf.spec.topic } }), {
        force: true,
      })
      const { items } = await client.list(ConfigMap, { namespace, labelSelector: { matchLabels: { shelf: name } } })
      for (const book of items) {
        const { ownerReferences = [], deletionTimestamp, resourceVersion } = book.metadata
        if (ownerReferences.length > 0 || deletionTimestamp !== undefined) continue
        const current = await client.find(Shelf, { name, namespace }, { live: true })
        if (current?.metadata.uid !== uid || current.metadata.deletionTimestamp !== undefined) return
        const owned = setControllerReference(shelf, { ...book })
        try {
          await client.patch(book, {
            metadata: { ownerReferences: owned.metadata.ownerReferences ?? [], resourceVersion },
          })
        } catch (error) {
          if (!isNotFound(error)) throw error
        }
      }
      status.set({ books: items.length })
    },
  }),
]

const book = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'atlas', namespace: 'default' } }

export const scenario = {
  name: 'adopting',
  steps: [
    creates(Shelf, 'maps', { spec: { topic: 'maps' } }),
    {
      name: 'creates the book',
      run: (user: Parameters<ReturnType<typeof creates>['run']>[0]) =>
        user.create({ ...book, metadata: { ...book.metadata, labels: { shelf: 'maps' } } }),
    },
    changes(Shelf, 'maps', { spec: { topic: 'charts' } }),
  ],
}
