import { expect, expectTypeOf, test } from 'vitest'
import type { InputOf, Kind, KubeObject, ObjectOf } from '#api'
import * as apps from './generated/apps/v1.ts'
import { Deployment } from './generated/apps/v1.ts'
import type { CustomResourceDefinition, JSONSchemaProps } from './generated/apiextensions/v1.ts'
import type { Lease } from './generated/coordination/v1.ts'
import * as core from './generated/core/v1.ts'
import { type Container, Namespace, Pod } from './generated/core/v1.ts'
import { ClusterRole } from './generated/rbac/v1.ts'

test('a kind says where it lives and what can be asked of it', () => {
  expect(Deployment).toMatchObject({
    group: 'apps',
    version: 'v1',
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    plural: 'deployments',
    scope: 'Namespaced',
    shortNames: ['deploy'],
    subresources: { status: true, scale: { specReplicasPath: '.spec.replicas' } },
  })
  expect([Namespace.scope, Namespace.apiVersion, ClusterRole.scope, ClusterRole.subresources.status]).toEqual([
    'Cluster',
    'v1',
    'Cluster',
    false,
  ])
  expect(Object.isFrozen(Pod)).toBe(true)
})

test('every value of a module that is no type is a kind of its group and version', () => {
  const kinds = [...Object.values(apps), ...Object.values(core)].filter(
    (value): value is Kind => !('builtinType' in value),
  )
  expect(kinds.length).toBeGreaterThan(20)
  for (const { group, version, kind, plural } of kinds)
    expect([['', 'apps'].includes(group), version, kind !== '', plural !== '']).toEqual([true, 'v1', true, true])
})

test('types: what is required is there, the rest may be missing, down to the leaves', () => {
  expectTypeOf<ObjectOf<typeof Deployment>>().toEqualTypeOf<Deployment>()
  expectTypeOf<InputOf<typeof Deployment>>().toEqualTypeOf<Deployment>()
  expectTypeOf<Deployment>().toExtend<KubeObject>()
  expectTypeOf<NonNullable<Deployment['spec']>['replicas']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<
    NonNullable<NonNullable<Deployment['spec']>['template']['spec']>['containers'][number]
  >().toEqualTypeOf<Container>()
  expectTypeOf<NonNullable<NonNullable<Container['resources']>['limits']>>().toEqualTypeOf<
    Readonly<Record<string, string>>
  >()
  expectTypeOf<NonNullable<ObjectOf<typeof Lease>['spec']>['renewTime']>().toEqualTypeOf<string | undefined>()
  expectTypeOf<NonNullable<JSONSchemaProps['items']>>().toEqualTypeOf<JSONSchemaProps | readonly JSONSchemaProps[]>()
  expectTypeOf<typeof CustomResourceDefinition>().toExtend<Kind>()
})
