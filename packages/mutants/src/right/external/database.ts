/** A Database of a service with a password from a Secret, and a ConfigMap that says where it is. */
import { defineController, defineKind, dependsOn, external } from 'evenkeel'
import type { Driver, ObjectOf } from 'evenkeel'
import { ConfigMap, Secret } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { Labelled, labelledCalls } from '../services.ts'
import { changes, creates, deletes, type Process } from '../steps.ts'

const Database = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Database',
  spec: z.object({ sizeGb: z.number().int().min(1), version: z.string().min(1), password: z.string().min(1) }),
  status: z.object({ endpoint: z.string().optional() }),
  reports: ['children', 'external'],
})

interface Settings {
  sizeGb: number
  version: string
  password: string
}

interface Needs {
  password: ObjectOf<typeof Secret>
}

const password = dependsOn(Secret, (database: ObjectOf<typeof Database>) => database.spec.password)

export const controllers = ({ external: { databases } }: Process<{ databases: Labelled<Settings> }>) => {
  const driver: Driver<ObjectOf<typeof Database>, Settings, Settings, Needs> = {
    name: 'databases',
    capabilities: { labels: 'atomicOnCreate' },
    desired: ({ spec }, needs) => ({
      sizeGb: spec.sizeGb,
      version: spec.version,
      password: needs.password.data?.['password'] ?? '',
    }),
    ...labelledCalls(databases),
  }
  const database = external(driver, { instance: 'team-a', needs: { password } })
  return [
    defineController({
      for: Database,
      owns: [ConfigMap],
      verbs: [password, database],
      async reconcile({ metadata: { name } }, context) {
        const { id } = await database.sync(context)
        const endpoint = `${id}.databases.example.com`
        await context.children.apply(ConfigMap, { metadata: { name: `${name}-connection` }, data: { endpoint } })
        context.status.set({ endpoint })
      },
    }),
  ]
}

export const scenario = {
  name: 'database',
  quietMs: 60_000,
  external: () => ({ databases: new Labelled<Settings>() }),
  steps: [
    creates(Secret, 'login', { data: { password: btoa('open-sesame-1') } }),
    creates(Database, 'shop', { spec: { sizeGb: 10, version: '15', password: 'login' } }),
    changes(Database, 'shop', { spec: { version: '16' } }),
    changes(Secret, 'login', { data: { password: btoa('open-sesame-2') } }),
    deletes(Database, 'shop'),
  ],
}
