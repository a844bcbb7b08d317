/** A Tenant publishes its address in the namespace of the directory, where owner references do not reach. */
import { defineController, defineKind } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Tenant = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Tenant',
  spec: z.object({ address: z.string(), isListed: z.boolean().default(true) }),
  status: z.object({}),
  reports: ['children'],
})

export const controllers = () => [
  defineController({
    for: Tenant,
    owns: [{ kind: ConfigMap, elsewhere: true }],
    async reconcile(tenant, { children, status }) {
      const { name, namespace = 'default' } = tenant.metadata
      if (tenant.spec.isListed)
        await children.apply(ConfigMap, {
          metadata: { name: `${namespace}.${name}`, namespace: 'directory' },
          data: { address: tenant.spec.address },
        })
      else children.none()
      status.condition('Ready', children.ready())
    },
  }),
]

export const scenario = {
  name: 'elsewhere',
  objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'directory' } }],
  steps: [
    creates(Tenant, 'anna', { spec: { address: 'north' } }),
    changes(Tenant, 'anna', { spec: { isListed: false } }),
    changes(Tenant, 'anna', { spec: { isListed: true, address: 'south' } }),
    deletes(Tenant, 'anna'),
  ],
}
