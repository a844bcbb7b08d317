/** A Department is a namespace with a quota. It belongs to no namespace itself. */
import { defineController, defineKind, setControllerReference } from 'evenkeel'
import { Namespace, ResourceQuota } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Department = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Department',
  scope: 'Cluster',
  spec: z.object({ pods: z.number().int().min(0), contact: z.string() }),
  status: z.object({ namespace: z.string().optional() }),
})

export const controllers = () => [
  defineController({
    for: Department,
    owns: [Namespace, ResourceQuota],
    async reconcile(department, { client, status }) {
      const { name } = department.metadata
      const metadata = { name: `dept-${name}`, annotations: { contact: department.spec.contact } }
      const namespace = setControllerReference(department, { apiVersion: 'v1', kind: 'Namespace', metadata })
      const made = await client.apply(namespace, { force: true })
      if (made.metadata.deletionTimestamp !== undefined) return { park: `namespace ${metadata.name} to be deleted` }
      const quota = {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'pods', namespace: metadata.name },
        spec: { hard: { pods: String(department.spec.pods) } },
      }
      await client.apply(setControllerReference(department, quota), { force: true })
      status.set({ namespace: metadata.name })
      status.condition('Ready', true)
      return undefined
    },
  }),
]

export const scenario = {
  name: 'tenancy',
  steps: [
    creates(Department, 'sales', { spec: { pods: 5, contact: 'ann' } }),
    changes(Department, 'sales', { spec: { pods: 8, contact: 'bob' } }),
    deletes(Department, 'sales'),
  ],
}
