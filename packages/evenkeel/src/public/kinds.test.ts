import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { BuiltinType } from '#api'
import * as admissionregistration from '../kinds/generated/admissionregistration/v1.ts'
import * as apiextensions from '../kinds/generated/apiextensions/v1.ts'
import * as apps from '../kinds/generated/apps/v1.ts'
import * as autoscaling from '../kinds/generated/autoscaling/v2.ts'
import * as batch from '../kinds/generated/batch/v1.ts'
import { JobTemplateSpec } from '../kinds/generated/batch/v1.ts'
import * as core from '../kinds/generated/core/v1.ts'
import { PodTemplateSpec } from '../kinds/generated/core/v1.ts'
import * as meta from '../kinds/generated/meta/v1.ts'
import * as networking from '../kinds/generated/networking/v1.ts'
import * as rbac from '../kinds/generated/rbac/v1.ts'
import * as resource from '../kinds/generated/resource/v1.ts'
import * as storage from '../kinds/generated/storage/v1.ts'
import { Client } from './client.ts'
import { crdOf, defineKind, isInvalid, type InputOf, type ObjectOf } from './index.ts'
import { schemaOf } from './kinds.ts'
import { startServer } from './server.ts'

const names = { group: 'demo.example.com', version: 'v1', kind: 'Backup' } as const

const Backup = defineKind({
  ...names,
  spec: z.object({
    keep: z.number().int().default(3),
    job: z.custom<JobTemplateSpec>().meta(schemaOf(JobTemplateSpec)),
  }),
})

test('F11: a field of a built-in type has its TypeScript type, in zod and in plain JSON Schema', () => {
  expectTypeOf<ObjectOf<typeof Backup>['spec']['job']>().toEqualTypeOf<JobTemplateSpec>()
  expectTypeOf<InputOf<typeof Backup>['spec']['job']>().toEqualTypeOf<JobTemplateSpec>()
  const Plain = defineKind({
    ...names,
    spec: { type: 'object', required: ['template'], properties: { template: schemaOf(PodTemplateSpec) } },
  })
  expectTypeOf<ObjectOf<typeof Plain>['spec']['template']>().toEqualTypeOf<PodTemplateSpec>()
  const Whole = defineKind({ ...names, spec: schemaOf(PodTemplateSpec) })
  expectTypeOf<ObjectOf<typeof Whole>['spec']>().toEqualTypeOf<PodTemplateSpec>()
})

test('F11: the server validates, defaults and prunes the field by the schema of the type', async () => {
  const server = await startServer({ kinds: [Backup] })
  const client = new Client({ transport: server.transport, namespace: 'default' })
  const backup = (name: string, pod: core.PodSpec): InputOf<typeof Backup> => ({
    ...{ apiVersion: 'demo.example.com/v1', kind: 'Backup' },
    metadata: { name },
    spec: {
      job: { metadata: { labels: { app: 'a' } }, spec: { template: { metadata: { labels: { a: 'b' } }, spec: pod } } },
    },
  })
  const stored = await client.create(
    Backup,
    backup('good', {
      containers: [{ name: 'a', image: 'x', ports: [{ containerPort: 80 }], resources: { limits: { cpu: '500m' } } }],
      imagePullSecrets: [{}],
      restartPolicy: 'Never',
    }),
  )
  const { metadata, spec } = stored.spec.job.spec?.template ?? {}
  expect([
    stored.spec.keep,
    stored.spec.job.metadata,
    metadata,
    spec?.containers[0]?.ports,
    spec?.imagePullSecrets,
  ]).toEqual([
    3,
    { labels: { app: 'a' } },
    { labels: { a: 'b' } },
    [{ containerPort: 80, protocol: 'TCP' }],
    [{ name: '' }],
  ])
  const refused = (name: string, pod: unknown): Promise<unknown> =>
    client.create(Backup, backup(name, pod as core.PodSpec)).then(
      () => 'accepted',
      (error: unknown) => (isInvalid(error) ? error.message : error),
    )
  expect(await refused('no-containers', {})).toContain('spec.job.spec.template.spec.containers: Required value')
  expect(await refused('no-name', { containers: [{ image: 'x' }] })).toContain('containers[0].name: Required value')
  expect(await refused('twice', { containers: [{ name: 'a' }, { name: 'a' }] })).toContain('Duplicate value')
  expect(await refused('cpu', { containers: [{ name: 'a', resources: { limits: { cpu: 'much' } } }] })).toContain(
    'should match',
  )
  await server.stop()
})

const modules = {
  admissionregistration,
  apiextensions,
  apps,
  autoscaling,
  batch,
  core,
  meta,
  networking,
  rbac,
  resource,
  storage,
}

/** Those that contain themselves. */
const recursive = [
  'CustomResourceDefinitionSpec',
  'CustomResourceDefinitionVersion',
  'CustomResourceValidation',
  'JSONSchemaProps',
]

test.for(Object.entries(modules))('every type of %s can be in a custom resource', ([, module]) => {
  const types = Object.entries(module as object).filter(
    (entry): entry is [string, BuiltinType<unknown>] =>
      typeof entry[1] === 'object' && entry[1] !== null && 'builtinType' in entry[1],
  )
  expect(types.length).toBeGreaterThan(0)
  const refused = types.flatMap(([name, type]) => {
    try {
      crdOf(defineKind({ ...names, spec: schemaOf(type) }))
      return []
    } catch (error) {
      return error instanceof RangeError && error.message.includes('contains itself')
        ? [name]
        : [`${name}: ${String(error)}`]
    }
  })
  expect(refused).toEqual(refused.filter((name) => recursive.includes(name)))
})

test('a type that contains itself is refused with what to do instead', () => {
  expect(() => schemaOf(apiextensions.JSONSchemaProps)).toThrow(
    /^JSONSchemaProps contains itself, which the schema of a custom resource cannot: use \{ type: 'object'/,
  )
})
