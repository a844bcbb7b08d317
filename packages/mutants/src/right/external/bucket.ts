/** A Store has a bucket that is named by its uid, and a ConfigMap that says where it is. */
import { defineController, defineKind } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { Buckets } from '../services.ts'
import { changes, creates, deletes, type Process } from '../steps.ts'

const Store = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Store',
  spec: z.object({ region: z.string().min(1) }),
  status: z.object({ bucket: z.string().optional() }),
})

export const controllers = ({ external: { cloud } }: Process<{ cloud: Buckets }>) => [
  defineController({
    for: Store,
    owns: [ConfigMap],
    async reconcile(store, { children, status }) {
      const bucket = `${store.metadata.name}-${store.metadata.uid}`
      await cloud.ensure(bucket, { owner: store.metadata.name, region: store.spec.region })
      await children.apply(ConfigMap, { data: { bucket, region: store.spec.region } })
      status.set({ bucket })
      status.condition('Ready', true)
    },
    async cleanup(store) {
      await cloud.delete(`${store.metadata.name}-${store.metadata.uid}`)
    },
  }),
]

export const scenario = {
  name: 'bucket',
  external: () => ({ cloud: new Buckets() }),
  steps: [
    creates(Store, 'photos', { spec: { region: 'north' } }),
    changes(Store, 'photos', { spec: { region: 'south' } }),
    deletes(Store, 'photos'),
  ],
}
