/** A Server is a machine that takes time to boot: the controller asks again until it runs. */
import { defineController, defineKind } from 'evenkeel'
import { z } from 'zod'
import { Machines } from '../services.ts'
import { changes, creates, deletes, type Process } from '../steps.ts'

const Server = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Server',
  spec: z.object({ size: z.string().min(1) }),
  status: z.object({ phase: z.string().optional() }),
})

const soonMs = 5_000

export const controllers = ({ external: { machines } }: Process<{ machines: Machines }>) => [
  defineController({
    for: Server,
    async reconcile(server, { status }) {
      const machine = `m-${server.metadata.uid}`
      await machines.boot(machine, server.spec.size)
      if (!(await machines.isRunning(machine))) {
        status.set({ phase: 'Booting' })
        status.condition('Ready', false, { reason: 'Booting' })
        return { afterMs: soonMs }
      }
      status.set({ phase: 'Running' })
      status.condition('Ready', true)
      return undefined
    },
    async cleanup(server) {
      await machines.stop(`m-${server.metadata.uid}`)
    },
  }),
]

export const scenario = {
  name: 'machines',
  external: ({ clock }: { clock: { now(): number } }) => ({ machines: new Machines(clock) }),
  steps: [
    creates(Server, 'web', { spec: { size: 'small' } }),
    changes(Server, 'web', { spec: { size: 'large' } }),
    deletes(Server, 'web'),
  ],
}
