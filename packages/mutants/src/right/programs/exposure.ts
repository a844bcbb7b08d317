/** Two controllers of one kind: one has the settings of an Exposure, the other its Service. */
import { defineController, defineKind, setControllerReference } from 'evenkeel'
import { ConfigMap, Service } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Exposure = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Exposure',
  spec: z.object({ port: z.number().int().min(1).max(65535), isPublic: z.boolean() }),
  status: z.object({}),
})

export const controllers = () => [
  defineController({
    name: 'exposure-settings',
    for: Exposure,
    owns: [ConfigMap],
    async reconcile(exposure, { client }) {
      const { name, namespace = 'default' } = exposure.metadata
      const data = { port: String(exposure.spec.port) }
      const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${name}-port`, namespace }, data }
      await client.apply(setControllerReference(exposure, settings), { force: true })
    },
  }),
  defineController({
    name: 'exposure-service',
    for: Exposure,
    owns: [Service],
    async reconcile(exposure, { client }) {
      const { name, namespace = 'default' } = exposure.metadata
      const type = exposure.spec.isPublic ? 'LoadBalancer' : 'ClusterIP'
      const spec = { type, selector: { app: name }, ports: [{ name: 'web', port: exposure.spec.port }] }
      const service = { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec }
      await client.apply(setControllerReference(exposure, service), { force: true })
    },
  }),
]

export const scenario = {
  name: 'exposure',
  steps: [
    creates(Exposure, 'web', { spec: { port: 80, isPublic: true } }),
    changes(Exposure, 'web', { spec: { port: 81, isPublic: false } }),
    deletes(Exposure, 'web'),
  ],
}
