/** A Machine with a name in the DNS: two cleanup steps, the name goes before the machine. */
import { defineController, defineKind } from 'evenkeel'
import { z } from 'zod'
import { Buckets, Zone } from '../services.ts'
import { changes, creates, deletes, type Process } from '../steps.ts'

const Host = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Host',
  spec: z.object({ address: z.string().min(1) }),
  status: z.object({ name: z.string().optional() }),
})

export const controllers = ({ external: { disks, zone } }: Process<{ disks: Buckets; zone: Zone }>) => [
  defineController({
    for: Host,
    async reconcile(host, { status, signal }) {
      const { name, uid } = host.metadata
      await disks.ensure(`disk-${uid}`, { owner: name })
      signal.throwIfAborted()
      await zone.set(`${name}.host`, uid, [host.spec.address])
      status.set({ name: `${name}.host` })
      status.condition('Ready', true)
    },
    cleanup: [
      {
        finalizer: 'right.dev/name',
        async cleanup(host) {
          const { name, uid } = host.metadata
          const found = await zone.find(`${name}.host`)
          if (found?.owner === uid) await zone.remove(`${name}.host`)
        },
      },
      {
        finalizer: 'right.dev/disk',
        async cleanup(host) {
          await disks.delete(`disk-${host.metadata.uid}`)
        },
      },
    ],
  }),
]

export const scenario = {
  name: 'two steps',
  external: () => ({ disks: new Buckets(), zone: new Zone() }),
  steps: [
    creates(Host, 'web', { spec: { address: '10.0.0.1' } }),
    changes(Host, 'web', { spec: { address: '10.0.0.2' } }),
    deletes(Host, 'web'),
  ],
}
