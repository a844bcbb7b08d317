/** An Endpoint gets an address of a pool, which it keeps, and publishes it in a ConfigMap. */
import { defineController, defineKind, setControllerReference } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { AddressPool } from '../services.ts'
import { changes, creates, deletes, type Process } from '../steps.ts'

const Gateway = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Gateway',
  spec: z.object({ port: z.number().int().min(1).max(65535) }),
  status: z.object({ address: z.string().optional() }),
})

export const controllers = ({ external: { pool } }: Process<{ pool: AddressPool }>) => [
  defineController({
    for: Gateway,
    owns: [ConfigMap],
    async reconcile(gateway, { client, status }) {
      const { name, namespace = 'default', uid } = gateway.metadata
      const address = await pool.allocate(uid)
      const metadata = { name: `${name}-address`, namespace }
      const data = { address, port: String(gateway.spec.port) }
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
      await client.apply(setControllerReference(gateway, object), { force: true })
      status.set({ address })
      status.condition('Ready', true)
    },
    async cleanup(gateway) {
      await pool.release(gateway.metadata.uid)
    },
  }),
]

export const scenario = {
  name: 'addresses',
  external: () => ({ pool: new AddressPool() }),
  steps: [
    creates(Gateway, 'front', { spec: { port: 80 } }),
    changes(Gateway, 'front', { spec: { port: 443 } }),
    deletes(Gateway, 'front'),
  ],
}
