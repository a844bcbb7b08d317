/** A Ledger can be backed up: an operation with an input and a result. */
import { action, defineController, defineKind } from 'evenkeel'
import { z } from 'zod'
import { Buckets } from '../services.ts'
import { changes, creates, type Process } from '../steps.ts'

const Ledger = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Ledger',
  spec: z.object({ currency: z.string() }),
  status: z.object({ currency: z.string().optional() }),
})

const backup = action<{ to: string }, { bytes: number }>('backup', {
  form: 'operation',
  about: 'Copies the ledger.',
  policy: 'Queue',
  input: { type: 'object', required: ['to'], properties: { to: { type: 'string' } } },
  retry: { attempts: 5, backoffMs: 1000 },
})

export const controllers = ({ external: { backups } }: Process<{ backups: Buckets }>) => [
  defineController({
    for: Ledger,
    verbs: [backup],
    async reconcile(ledger, context) {
      await backup.handle(context, async ({ input }) => {
        const { name } = ledger.metadata
        await backups.ensure(`${name}-${input?.to}`, { owner: name })
        return { bytes: 7 }
      })
      context.status.set({ currency: ledger.spec.currency })
      context.status.condition('Ready', true)
    },
  }),
]

export const scenario = {
  name: 'operations',
  external: () => ({ backups: new Buckets() }),
  steps: [
    creates(Ledger, 'cash', { spec: { currency: 'CHF' } }),
    {
      name: 'asks for a backup of Ledger cash',
      run: async (user: Process<object>['client']) => {
        const { apiVersion, kind, metadata } = await user.get(Ledger, { name: 'cash', namespace: 'default' })
        const { name, uid, namespace = 'default' } = metadata
        await user.create({
          apiVersion: 'evenkeel.dev/v1alpha1',
          kind: 'Operation',
          metadata: {
            name: 'cash-to-disk',
            namespace,
            ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
          },
          spec: { action: 'backup', target: { apiVersion, kind, name, uid }, input: { to: 'disk' } },
        })
      },
    },
    changes(Ledger, 'cash', { spec: { currency: 'EUR' } }),
  ],
}
