/** A Migration changes a ConfigMap of the user exactly once: the change and its record are one write. */
import { defineController, defineKind, dependsOn } from 'evenkeel'
import type { ObjectOf } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates } from '../steps.ts'

const Migration = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Migration',
  spec: z.object({ database: z.string().min(1) }),
  status: z.object({ version: z.number().int().optional() }),
})

const steps: readonly ((data: Readonly<Record<string, string>>) => Record<string, string>)[] = [
  (data) => ({ ...data, currency: 'CHF' }),
  ({ price = '0', ...data }) => ({ ...data, price: String(Number(price) * 100), unit: 'Rappen' }),
]

const database = dependsOn(ConfigMap, (migration: ObjectOf<typeof Migration>) => migration.spec.database)

export const controllers = () => [
  defineController({
    for: Migration,
    verbs: [database],
    rbac: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['update'] }],
    async reconcile(_, context) {
      const found = (await database.one(context))?.object
      const { version = '0', ...data } = found?.data ?? {}
      const migrated = steps.slice(Number(version)).reduce((before, step) => step(before), data)
      if (found && Number(version) < steps.length)
        await context.client.update({ ...found, data: { ...migrated, version: String(steps.length) } })
      context.status.set({ version: steps.length })
      context.status.condition('Complete', true)
    },
  }),
]

export const scenario = {
  name: 'migration',
  exceptions: [{ rule: 'cleanup', about: 'ConfigMap', because: 'a migration is not undone' }],
  steps: [
    creates(ConfigMap, 'shop', { data: { price: '5' } }),
    creates(Migration, 'currency', { spec: { database: 'shop' } }),
    changes(ConfigMap, 'shop', { data: { name: 'tea' } }),
  ],
}
