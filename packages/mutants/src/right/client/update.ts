/** A Menu has a ConfigMap: created if it is missing, updated with the resourceVersion that was read. */
import { defineController, defineKind, isOwnedBy, setControllerReference } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Menu = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Menu',
  spec: z.object({ dish: z.string(), price: z.number().int().min(0) }),
  status: z.object({ price: z.number().int().optional() }),
})

export const controllers = () => [
  defineController({
    for: Menu,
    owns: [ConfigMap],
    async reconcile(menu, { client, status }) {
      const { name, namespace = 'default' } = menu.metadata
      const place = { name: `${name}-menu`, namespace }
      const data = { dish: menu.spec.dish, price: String(menu.spec.price) }
      const found = await client.find(ConfigMap, place)
      if (!found) {
        const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: place, data }
        await client.create(setControllerReference(menu, object))
      } else if (!isOwnedBy(found, menu)) {
        throw new Error(`ConfigMap ${place.name} belongs to another owner`)
      } else if (found.data?.['dish'] !== data.dish || found.data['price'] !== data.price) {
        await client.update({ ...found, data })
      }
      status.set({ price: menu.spec.price })
    },
  }),
]

export const scenario = {
  name: 'update',
  steps: [
    creates(Menu, 'lunch', { spec: { dish: 'soup', price: 5 } }),
    changes(Menu, 'lunch', { spec: { dish: 'stew', price: 7 } }),
    deletes(Menu, 'lunch'),
  ],
}
