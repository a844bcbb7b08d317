import { type } from 'arktype'
import Type from 'typebox'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '@evenkeel/cel/primitives'
import type { Condition } from '../conditions.ts'
import { canonicalApiVersion, formatApiVersion, formatGroupName, parseApiVersion } from '../group-version.ts'
import type { KubeObject, Stored } from '../object.ts'
import { declareKind, defineKind } from './define-kind.ts'
import type { InputOf, Kind, ObjectOf } from './kind.ts'
import { jsonSchemaOf } from './standard-schema.ts'
import type { StandardStatus } from './status-schema.ts'

const names = { group: 'demo.example.com', version: 'v1', kind: 'Website' } as const

describe('defineKind with zod', () => {
  const Website = defineKind({
    ...names,
    spec: z.object({
      image: z.string(),
      replicas: z.number().int().min(0).default(1),
      port: z.union([z.string(), z.int()]).optional(),
    }),
    status: z.object({ readyReplicas: z.number().int() }),
  })

  test('types', () => {
    type Site = ObjectOf<typeof Website>
    expectTypeOf<Site['spec']>().toEqualTypeOf<{
      readonly image: string
      readonly replicas: number
      readonly port?: string | number | undefined
    }>()
    expectTypeOf<Site['status']>().toEqualTypeOf<
      | {
          readonly readyReplicas?: number
          readonly conditions?: readonly Condition[]
          readonly observedGeneration?: number
        }
      | undefined
    >()
    expectTypeOf<InputOf<typeof Website>['spec']>().toEqualTypeOf<{
      readonly image: string
      readonly replicas?: number | undefined
      readonly port?: string | number | undefined
    }>()
    expectTypeOf<Stored<Site>['metadata']['uid']>().toEqualTypeOf<string>()
    expectTypeOf<Stored<Site>['metadata']['generation']>().toEqualTypeOf<number>()
    expectTypeOf<Site>().toExtend<KubeObject>()
    expectTypeOf(Website).toExtend<Kind>()
  })

  test('schema, with defaults and without what only zod requires', () => {
    expect(Website.schema).toMatchObject({
      type: 'object',
      required: ['spec'],
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: { type: 'object' },
        spec: {
          type: 'object',
          required: ['image'],
          properties: { image: { type: 'string' }, replicas: { type: 'integer', minimum: 0, default: 1 } },
        },
        status: { type: 'object', properties: { readyReplicas: { type: 'integer' } } },
      },
    })
  })

  test('refuses a transform, which no API server could run', () => {
    expect(() => defineKind({ ...names, spec: z.object({ n: z.string().transform(Number) }) })).toThrow(
      /^Website\.spec changes values while parsing \(.*\), and an API server cannot run zod: describe the value as it is stored/,
    )
  })

  test('F11: refuses a type that JSON does not have, with the name of the field', () => {
    expect(() => defineKind({ ...names, spec: z.object({ deep: z.object({ at: z.date() }) }) })).toThrow(
      /^zod cannot turn Website\.spec into a JSON Schema \(openapi-3\.0: Website\.spec\.deep\.at is z\.date\(\), which has no JSON Schema: .*use only types that JSON has$/,
    )
    expect(() => defineKind({ ...names, spec: z.object({ at: z.custom<string>() }) })).toThrow(
      /Website\.spec\.at is z\.custom\(\), which has no JSON Schema/,
    )
  })

  test('F11: a custom type may bring its JSON Schema in its metadata', () => {
    const { schema } = defineKind({
      ...names,
      spec: z.object({ id: z.custom<`id-${string}`>().meta({ type: 'string', pattern: '^id-' }) }),
    })
    expect(schema).toMatchObject({ properties: { spec: { properties: { id: { type: 'string', pattern: '^id-' } } } } })
  })

  test('F10: an object that was read is read-only to the compiler, at any depth', () => {
    const Deep = defineKind({
      ...names,
      spec: z.object({ a: z.object({ list: z.array(z.object({ n: z.number() })) }) }),
    })
    type Spec = ObjectOf<typeof Deep>['spec']
    expectTypeOf<Spec>().toEqualTypeOf<{ readonly a: { readonly list: readonly { readonly n: number }[] } }>()
    expectTypeOf<InputOf<typeof Deep>['spec']>().toEqualTypeOf<Spec>()
  })
})

describe('defineKind with arktype', () => {
  const Website = defineKind({
    ...names,
    spec: type({ image: 'string', 'replicas?': 'number.integer', mode: '"fast"|"slow"' }),
    status: type({ ready: 'boolean' }),
  })

  test('types', () => {
    expectTypeOf<ObjectOf<typeof Website>['spec']>().toEqualTypeOf<{
      readonly image: string
      readonly mode: 'fast' | 'slow'
      readonly replicas?: number
    }>()
    expectTypeOf<InputOf<typeof Website>['spec']>().toEqualTypeOf<{
      readonly image: string
      readonly mode: 'fast' | 'slow'
      readonly replicas?: number
    }>()
    expectTypeOf<NonNullable<ObjectOf<typeof Website>['status']>>().toEqualTypeOf<{
      readonly ready?: boolean
      readonly conditions?: readonly Condition[]
      readonly observedGeneration?: number
    }>()
  })

  test('schema, although arktype refuses OpenAPI 3.0', () => {
    expect(Website.schema).toMatchObject({
      properties: {
        spec: {
          type: 'object',
          required: ['image', 'mode'],
          properties: { replicas: { type: 'integer' }, mode: { enum: ['fast', 'slow'] } },
        },
      },
    })
  })

  test('refuses a default that arktype keeps to itself, at any depth', () => {
    expect(() =>
      defineKind({ ...names, spec: type({ image: 'string', nested: { replicas: 'number.integer = 1' } }) }),
    ).toThrow(/^Website\.spec\.nested\.replicas has a default that arktype does not put into the JSON Schema/)
  })
})

describe('defineKind with valibot', () => {
  const plain = v.object({ image: v.string(), replicas: v.optional(v.number(), 1) })

  test('refuses a plain schema and says which companion helps', () => {
    expect(() => defineKind({ ...names, spec: plain })).toThrow(
      'Website.spec is a valibot schema, and valibot does not give its JSON Schema: wrap the schema with `toStandardJsonSchema` of the package @valibot/to-json-schema',
    )
  })

  test('takes one that the companion wrapped', () => {
    // What `toStandardJsonSchema` returns: the schema's own types, and a converter beside them.
    const jsonSchema = {
      type: 'object',
      properties: { image: { type: 'string' }, replicas: { type: 'number', default: 1 } },
      required: ['image'],
    }
    const wrapped = {
      ...plain,
      '~standard': {
        ...plain['~standard'],
        jsonSchema: { input: () => jsonSchema, output: () => ({ ...jsonSchema, required: ['image', 'replicas'] }) },
      },
    }
    const Website = defineKind({ ...names, spec: wrapped })
    expectTypeOf<ObjectOf<typeof Website>['spec']>().toEqualTypeOf<{
      readonly image: string
      readonly replicas: number
    }>()
    expectTypeOf<InputOf<typeof Website>['spec']>().toEqualTypeOf<{
      readonly image: string
      readonly replicas?: number | undefined
    }>()
    expect(Website.schema).toMatchObject({ properties: { spec: jsonSchema } })
  })
})

describe('defineKind with typebox', () => {
  const Website = defineKind({
    ...names,
    spec: Type.Object({
      image: Type.String(),
      replicas: Type.Optional(Type.Integer()),
      mode: Type.Union([Type.Literal('fast'), Type.Literal('slow')]),
      tags: Type.Array(Type.String()),
      env: Type.Record(Type.String(), Type.Number()),
    }),
    status: Type.Object({ ready: Type.Boolean() }),
  })

  test('types', () => {
    expectTypeOf<ObjectOf<typeof Website>['spec']>().toEqualTypeOf<{
      readonly image: string
      readonly replicas?: number
      readonly mode: 'fast' | 'slow'
      readonly tags: readonly string[]
      readonly env: { readonly [x: string]: number }
    }>()
    expectTypeOf<NonNullable<ObjectOf<typeof Website>['status']>>().toEqualTypeOf<{
      readonly ready?: boolean
      readonly conditions?: readonly Condition[]
      readonly observedGeneration?: number
    }>()
  })

  test('schema: it is one already, and the marks of typebox stay out of it', () => {
    expect(JSON.parse(JSON.stringify(Website.schema))).toEqual(Website.schema)
    expect(Website.schema).toMatchObject({
      properties: {
        spec: {
          type: 'object',
          required: ['image', 'mode', 'tags', 'env'],
          properties: { replicas: { type: 'integer' }, mode: { anyOf: [{ const: 'fast' }, { const: 'slow' }] } },
        },
      },
    })
    expect(JSON.stringify(Website.schema)).not.toContain('~kind')
  })
})

describe('defineKind with plain JSON Schema', () => {
  const spec = {
    type: 'object',
    required: ['image', 'replicas', 'mode'],
    properties: {
      image: { type: 'string', minLength: 1 },
      replicas: { type: 'integer', default: 1 },
      mode: { type: 'string', enum: ['fast', 'slow'] },
    },
  } as const
  const Website = defineKind({ ...names, spec, status: { type: 'object', properties: { ready: { type: 'boolean' } } } })

  test('types: a default may be left out when writing and is there when reading', () => {
    expectTypeOf<ObjectOf<typeof Website>['spec']>().toEqualTypeOf<{
      readonly image: string
      readonly replicas: number
      readonly mode: 'fast' | 'slow'
    }>()
    expectTypeOf<InputOf<typeof Website>['spec']>().toEqualTypeOf<{
      readonly image: string
      readonly mode: 'fast' | 'slow'
      readonly replicas?: number
    }>()
    expectTypeOf<NonNullable<ObjectOf<typeof Website>['status']>>().toEqualTypeOf<{
      readonly ready?: boolean
      readonly conditions?: readonly Condition[]
      readonly observedGeneration?: number
    }>()
  })

  test('needs no `as const` when the literal stands in the call', () => {
    const Inline = defineKind({
      ...names,
      spec: { type: 'object', required: ['a'], properties: { a: { type: 'array', items: { enum: [1, 2] } } } },
    })
    expectTypeOf<ObjectOf<typeof Inline>['spec']>().toEqualTypeOf<{ readonly a: readonly (1 | 2)[] }>()
    expect(Inline.subresources).toEqual({ status: false })
  })

  test('takes a copy, so the original stays changeable and changing it changes nothing', () => {
    const source = { type: 'object', properties: { a: { type: 'string' } } }
    const kind = defineKind({ ...names, spec: source })
    source.properties.a.type = 'number'
    expect(kind.schema).toMatchObject({ properties: { spec: { properties: { a: { type: 'string' } } } } })
    expect(Object.isFrozen(kind.schema)).toBe(true)
  })

  test('a kind without spec and status', () => {
    const Bare = defineKind(names)
    expectTypeOf<ObjectOf<typeof Bare>>().toEqualTypeOf<KubeObject>()
    expect(Bare.schema).toEqual({
      type: 'object',
      properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' } },
    })
  })
})

describe('the status of defineKind', () => {
  const statusOf = (kind: Kind): JsonObject =>
    (kind.schema as { readonly properties: { readonly status: JsonObject } }).properties.status

  test('has conditions and observedGeneration that nobody asked for', () => {
    const Bare = defineKind({ ...names, status: { type: 'object' } })
    expectTypeOf<NonNullable<ObjectOf<typeof Bare>['status']>>().toEqualTypeOf<StandardStatus>()
    expect(statusOf(Bare)).toMatchObject({
      properties: {
        conditions: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
        observedGeneration: { type: 'integer', format: 'int64' },
      },
    })
    const Two = defineKind({ ...names, status: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) })
    expectTypeOf<NonNullable<ObjectOf<typeof Two>['status']>['conditions']>().toEqualTypeOf<
      readonly Condition[] | undefined
    >()
  })

  test('requires nothing at its top: it is written bit by bit', () => {
    const Strict = defineKind({
      ...names,
      status: {
        type: 'object',
        required: ['ready', 'place'],
        properties: {
          ready: { type: 'boolean' },
          place: { type: 'object', required: ['host'], properties: { host: { type: 'string' } } },
        },
      },
    } as const)
    expectTypeOf<NonNullable<ObjectOf<typeof Strict>['status']>['ready']>().toEqualTypeOf<boolean | undefined>()
    expect(statusOf(Strict)).not.toHaveProperty('required')
    expect(statusOf(Strict)).toMatchObject({ properties: { place: { required: ['host'] } } })
  })

  test('keeps fields of those names that it has', () => {
    const Own = defineKind({
      ...names,
      status: { type: 'object', properties: { conditions: { type: 'string' }, ready: { type: 'boolean' } } },
    })
    expectTypeOf<NonNullable<ObjectOf<typeof Own>['status']>>().toEqualTypeOf<{
      readonly conditions?: string
      readonly ready?: boolean
      readonly observedGeneration?: number
    }>()
    expect(statusOf(Own)).toMatchObject({
      properties: {
        conditions: { type: 'string' },
        ready: { type: 'boolean' },
        observedGeneration: { type: 'integer' },
      },
    })
  })

  test.each<JsonObject>([
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    { type: 'object', additionalProperties: { type: 'string' } },
    { type: 'object', additionalProperties: true },
    { type: 'string' },
  ])('stays as it is when it keeps everything, or is no object: %j', (status) => {
    expect(statusOf(defineKind({ ...names, status }))).toEqual(status)
  })

  test('an open one has an open type', () => {
    const Open = defineKind({ ...names, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } })
    expectTypeOf<NonNullable<ObjectOf<typeof Open>['status']>>().toEqualTypeOf<{ readonly [x: string]: unknown }>()
  })
})

test('jsonSchemaOf refuses what is no schema', () => {
  expect(() => jsonSchemaOf([], 'X.spec')).toThrow(
    'X.spec must be a schema of a Standard JSON Schema library or a JSON Schema object',
  )
  expect(() => jsonSchemaOf({ '~standard': { version: 1, vendor: 'homemade' } }, 'X.spec')).toThrow(
    'X.spec is a homemade schema, and homemade does not give its JSON Schema: pass a JSON Schema object instead',
  )
})

describe('names', () => {
  test('are guessed', () => {
    expect(defineKind(names)).toMatchObject({
      group: 'demo.example.com',
      version: 'v1',
      kind: 'Website',
      apiVersion: 'demo.example.com/v1',
      listKind: 'WebsiteList',
      plural: 'websites',
      singular: 'website',
      shortNames: [],
      categories: [],
      scope: 'Namespaced',
      printerColumns: [],
      selectableFields: [],
      subresources: { status: false },
    })
  })

  test.each([
    ['Website', 'websites'],
    ['Proxy', 'proxies'],
    ['Gateway', 'gateways'],
    ['Ingress', 'ingresses'],
    ['Mailbox', 'mailboxes'],
    ['Switch', 'switches'],
    ['Mesh', 'meshes'],
    ['Endpoints', 'endpoints'],
    ['AppRoute', 'approutes'],
    ['Key', 'keys'],
  ])('the plural of %s is %s', (kind, plural) => expect(defineKind({ ...names, kind }).plural).toBe(plural))

  test('can be overruled', () => {
    const given = {
      plural: 'fish',
      singular: 'onefish',
      listKind: 'School',
      shortNames: ['fi'],
      categories: ['all'],
      scope: 'Cluster',
      selectableFields: ['.spec.color'],
      printerColumns: [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }],
    } as const
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
    const Fish = defineKind({ ...names, kind: 'Fish', ...given, scale, status: { type: 'object' } })
    expect(Fish).toMatchObject(given)
    expect(Fish.subresources).toEqual({ status: true, scale })
  })

  test.each<[Partial<Parameters<typeof defineKind>[0]>, RegExp]>([
    [{ group: '' }, /^group "" of Website needs a dot: use a domain you own, such as "demo\.example\.com"$/],
    [{ group: 'demo' }, /^group "demo" of Website needs a dot: use a domain you own, such as "demo\.example\.com"$/],
    [
      { group: 'Demo.example.com' },
      /^group "Demo\.example\.com" of kind "Website" is not allowed; use a domain in lower case: a lowercase RFC 1123 subdomain/,
    ],
    [{ version: '1' }, /^version "1" of kind "Website" is not allowed; use v1, v1beta1 or v1alpha1: a DNS-1035 label/],
    [{ version: '' }, /^version ""/],
    [{ kind: 'My_Kind' }, /^kind "My_Kind" of kind "My_Kind" is not allowed; use letters and digits/],
    [{ kind: '' }, /^kind ""/],
    [{ plural: 'Websites' }, /^plural "Websites" of kind "Website" is not allowed; use letters in lower case/],
    [{ singular: 'a.b' }, /^singular "a\.b"/],
    [{ shortNames: ['ok', 'W'] }, /^short name "W"/],
    [{ categories: ['All'] }, /^category "All"/],
    [{ listKind: 'Website' }, /^listKind of Website must differ from kind: leave it out to get WebsiteList$/],
    [{ listKind: 'bad list' }, /^listKind "bad list"/],
  ])('refuses %j', (change, message) => {
    const attempt = (): unknown => defineKind({ ...names, ...change } as never)
    expect(attempt).toThrow(RangeError)
    expect(attempt).toThrow(message)
  })
})

describe('declareKind', () => {
  interface ConfigMap extends KubeObject {
    readonly data?: Record<string, string>
  }
  const ConfigMap = declareKind<ConfigMap>({
    group: '',
    version: 'v1',
    kind: 'ConfigMap',
    shortNames: ['cm'],
    statusSubresource: false,
  })

  test('takes the core group and a given type', () => {
    expect(ConfigMap).toMatchObject({
      apiVersion: 'v1',
      plural: 'configmaps',
      shortNames: ['cm'],
      subresources: { status: false },
    })
    expect('schema' in ConfigMap).toBe(false)
    expectTypeOf<ObjectOf<typeof ConfigMap>>().toEqualTypeOf<ConfigMap>()
    expectTypeOf<Stored<ConfigMap>['metadata']['generation']>().toEqualTypeOf<number | undefined>()
  })

  test('is frozen through and through', () => {
    expect([ConfigMap, ConfigMap.shortNames, ConfigMap.subresources].every(Object.isFrozen)).toBe(true)
  })
})

test('apiVersion', () => {
  expect(parseApiVersion('apps/v1')).toEqual({ group: 'apps', version: 'v1' })
  expect(parseApiVersion('v1')).toEqual({ group: '', version: 'v1' })
  expect(['/v1', '/', '//v1', '/a/v1', 'a/v1'].map(canonicalApiVersion)).toEqual(['v1', '', '//v1', '/a/v1', 'a/v1'])
  expect(parseApiVersion('')).toEqual({ group: '', version: '' })
  expect(() => parseApiVersion('a/b/c')).toThrow('unexpected GroupVersion string: a/b/c')
  for (const text of ['v1', 'apps/v1', 'a.b/v1beta1']) expect(formatApiVersion(parseApiVersion(text))).toBe(text)
  expect([formatGroupName('pods', ''), formatGroupName('deployments', 'apps')]).toEqual(['pods', 'deployments.apps'])
})
