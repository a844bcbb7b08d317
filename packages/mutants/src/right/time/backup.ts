/** A Backup copies a store once, and never again: what is done is in its status. */
import { defineController, defineKind, isConditionTrue } from 'evenkeel'
import { z } from 'zod'
import { Buckets } from '../services.ts'
import { changes, creates, deletes, type Process } from '../steps.ts'

const Backup = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Backup',
  spec: z.object({ store: z.string().min(1), note: z.string().optional() }),
  status: z.object({ copy: z.string().optional() }),
})

export const controllers = ({ external: { copies } }: Process<{ copies: Buckets }>) => [
  defineController({
    for: Backup,
    async reconcile(backup, { status }) {
      const copy = backup.status?.copy ?? `copy-${backup.metadata.uid}`
      if (!isConditionTrue(backup.status?.conditions, 'Complete'))
        await copies.ensure(copy, { owner: backup.metadata.name, region: backup.spec.store })
      status.set({ copy })
      status.condition('Complete', true)
    },
    async cleanup(backup) {
      await copies.delete(`copy-${backup.metadata.uid}`)
    },
  }),
]

export const scenario = {
  name: 'backup',
  external: () => ({ copies: new Buckets() }),
  exceptions: [{ rule: 'state', about: 'copies', because: 'a backup is one-shot work: it is not done again' }],
  steps: [
    creates(Backup, 'monday', { spec: { store: 'shop' } }),
    changes(Backup, 'monday', { spec: { note: 'the first one' } }),
    deletes(Backup, 'monday'),
  ],
}
