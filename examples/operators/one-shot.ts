/** A one-shot operator: migrates a database (here a ConfigMap) exactly once. Run it: `npx tsx one-shot.ts`. */
import { defineKind, dependsOn, run } from 'evenkeel'
import type { ObjectOf } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'

const Migration = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Migration',
  spec: z.object({ database: z.string() }),
  status: z.object({ version: z.number().int().optional() }),
})

/** The change of each version. Applying one twice would be wrong. */
const steps: readonly ((data: Readonly<Record<string, string>>) => Record<string, string>)[] = [
  (data) => ({ ...data, currency: 'CHF' }),
  ({ price = '0', ...data }) => ({ ...data, price: String(Number(price) * 100), unit: 'Rappen' }),
]

const database = dependsOn(ConfigMap, (migration: ObjectOf<typeof Migration>) => migration.spec.database)

await run({
  controllers: [
    {
      for: Migration,
      verbs: [database],
      rbac: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['update'] }],
      async reconcile(_, context) {
        const found = (await database.one(context))?.object
        const { version = '0', ...data } = found?.data ?? {}
        const migrated = steps.slice(Number(version)).reduce((before, step) => step(before), data)
        // The migration and its record are one write with a resourceVersion: it never runs twice.
        if (found && Number(version) < steps.length)
          await context.client.update({ ...found, data: { ...migrated, version: String(steps.length) } })
        context.status.set({ version: steps.length })
        context.status.condition('Complete', true)
      },
    },
  ],
})
