import { expect, test } from 'vitest'
import type { PublishedResource, PublishedSchema } from '../generate/source.ts'
import { renderKinds } from './render.ts'
import { typeOf } from './types.ts'

const reference = (name: string): PublishedSchema => ({
  allOf: [{ $ref: `#/components/schemas/io.k8s.api.${name}` }],
  default: {},
})
const meta = { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }
const gvk = { 'x-kubernetes-group-version-kind': [{}] }
const resource = (more: Partial<PublishedResource>): PublishedResource => ({
  name: 'things',
  singularName: 'thing',
  namespaced: true,
  kind: 'Thing',
  verbs: [],
  ...more,
})

const published = {
  versions: [
    {
      group: '',
      version: 'v1',
      resources: [resource({ name: 'bases', singularName: 'base', kind: 'Base', namespaced: false })],
    },
    {
      group: 'demo.k8s.io',
      version: 'v1',
      resources: [
        resource({ shortNames: ['th'] }),
        resource({ name: 'things/status' }),
        resource({ name: 'things/scale', kind: 'Scale' }),
      ],
    },
  ],
  schemas: new Map<string, PublishedSchema>([
    ['io.k8s.api.core.v1.Base', { ...gvk, properties: { apiVersion: {}, kind: {}, metadata: meta } }],
    ['io.k8s.api.core.v1.Part', { properties: { 'x-odd': { type: 'boolean' } } }],
    [
      'io.k8s.api.demo.v1.Thing',
      { ...gvk, properties: { apiVersion: {}, kind: {}, metadata: meta, spec: reference('demo.v1.ThingSpec') } },
    ],
    [
      'io.k8s.api.demo.v1.ThingSpec',
      {
        required: ['parts'],
        properties: {
          parts: { type: 'array', items: reference('core.v1.Part') },
          size: { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity' },
        },
      },
    ],
    ['io.k8s.api.demo.v1.ThingList', { ...gvk, properties: { items: {} } }],
    ['io.k8s.api.demo.v1.Unused', { properties: {} }],
  ]),
}

test('renderKinds writes a module for each group version: its kinds, the types they need, and no others', () => {
  const modules = renderKinds(published)
  expect([...modules.keys()]).toEqual(['core/v1.ts', 'demo/v1.ts'])
  expect((modules.get('demo/v1.ts') ?? '').split('\n').slice(6)).toEqual([
    "import { declareKind } from '#api'",
    "import type { BuiltinType, Kind, KubeObject } from '#api'",
    "import type { Part as CoreV1Part } from '../core/v1.ts'",
    '',
    'export interface Thing extends KubeObject { readonly spec?: ThingSpec }',
    'export interface ThingSpec { readonly parts: readonly CoreV1Part[], readonly size?: string }',
    '',
    "export const ThingSpec: BuiltinType<ThingSpec> = { builtinType: 'demo.v1.ThingSpec' }",
    "export const Thing: Kind<Thing> = /* @__PURE__ */ declareKind<Thing>({ group: 'demo.k8s.io', version: 'v1', kind: 'Thing', plural: 'things', singular: 'thing', shortNames: ['th'], scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } })",
    '',
  ])
  expect(modules.get('core/v1.ts')).toContain("export interface Part { readonly 'x-odd'?: boolean }")
  expect(modules.get('core/v1.ts')).toContain("scope: 'Cluster', statusSubresource: false")
})

test('typeOf supports every schema form', () => {
  const name = (short: string): string => short
  expect(typeOf({ type: 'array', items: { type: 'array', items: { type: 'string' } } }, name)).toBe(
    'readonly (readonly string[])[]',
  )
  expect(typeOf({ type: 'object', additionalProperties: { type: 'integer' } }, name)).toBe(
    'Readonly<Record<string, number>>',
  )
  expect(typeOf({ type: 'object' }, name)).toBe('#JsonObject')
  expect(typeOf({ type: 'string', enum: ['a', "b'"] }, name)).toBe("'a' | 'b\\''")
})
