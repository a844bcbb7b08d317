import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import Type from 'typebox'
import * as v from 'valibot'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { declareKind, defineKind } from '#api'
import type { Kind } from '#api'
import { openMemoryStore } from '#store'
import { TestServer } from '../client.fixture.ts'
import { installKinds } from './install-kinds.ts'

const names = { group: 'demo.example.com', version: 'v1', kind: 'Website' }
const definitionPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/websites.demo.example.com'
const path = (version = 'v1'): string => `/apis/demo.example.com/${version}/namespaces/default/websites`
let tested: TestServer

afterEach(async () => {
  await tested.server.stop()
})

const site = (spec: object, version = 'v1'): object => ({
  apiVersion: `demo.example.com/${version}`,
  kind: 'Website',
  metadata: { name: 'a' },
  spec,
})

const raw = {
  type: 'object',
  properties: { url: { type: 'string' }, replicas: { type: 'integer', minimum: 0, default: 1 } },
  required: ['url'],
} as const
const sources: Record<string, object> = {
  zod: z.object({ url: z.string(), replicas: z.int().min(0).default(1) }),
  typebox: Type.Object({ url: Type.String(), replicas: Type.Optional(Type.Integer({ minimum: 0, default: 1 })) }),
  valibot: toStandardJsonSchema(
    v.object({ url: v.string(), replicas: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 1) }),
  ),
  arktype: type({ url: 'string', 'replicas?': 'number.integer >= 0' }),
  'a JSON Schema': raw,
}

describe('startServer with kinds', () => {
  test.each(Object.entries(sources))('serves a kind made with %s', async (library, spec) => {
    const Website = defineKind({ ...names, spec: spec as never, status: z.object({ ready: z.boolean() }) })
    tested = await TestServer.start({ kinds: [Website] })
    expect((await tested.ask('POST', path(), { body: site({ url: 'x', unknown: 1 }) })).json['spec']).toEqual({
      url: 'x',
      ...(library !== 'arktype' && { replicas: 1 }),
    })
    expect(await tested.ask('POST', path(), { body: site({ replicas: -1 }) })).toMatchObject({
      status: 422,
      json: { details: { causes: [{ field: 'spec.replicas' }, { field: 'spec.url' }] } },
    })
    expect(
      (
        await tested.ask('PATCH', `${path()}/a/status`, {
          type: 'application/merge-patch+json',
          body: { status: { ready: true } },
        })
      ).json,
    ).toMatchObject({ status: { ready: true } })
  })

  test('does not start, and says why, when a kind cannot be a custom resource', async () => {
    tested = await TestServer.start()
    await expect(
      TestServer.start({ kinds: [declareKind({ group: 'apps', version: 'v1', kind: 'Deployment' })] }),
    ).rejects.toThrow('Deployment has no schema')
    const odd = defineKind({ ...names, spec: z.object({ a: z.union([z.string(), z.boolean()]) }) })
    await expect(TestServer.start({ kinds: [odd] })).rejects.toThrow(
      /^Website\.spec\.a may be of type string or boolean/,
    )
    expect(() => defineKind({ ...names, spec: v.object({ url: v.string() }) as never })).toThrow(
      'wrap the schema with `toStandardJsonSchema` of the package @valibot/to-json-schema',
    )
  })

  test('finds its kinds again, and changes nothing that is as it should be', async () => {
    const store = openMemoryStore()
    const Website = defineKind({ ...names, spec: raw })
    tested = await TestServer.start({ store, kinds: [Website] })
    const before = (await tested.ask('GET', definitionPath)).json['metadata']
    await tested.server.stop()
    tested = await TestServer.start({ store, kinds: [Website] })
    expect((await tested.ask('GET', definitionPath)).json['metadata']).toEqual(before)
  })
})

describe('installKinds', () => {
  const install = (...kinds: readonly Kind[]): Promise<void> =>
    installKinds(tested.server.transport, kinds, { clock: tested.clock })

  test('brings a definition up to date, and leaves what is not its own', async () => {
    tested = await TestServer.start()
    await install(defineKind({ ...names, spec: raw }))
    await tested.ask('PATCH', definitionPath, {
      type: 'application/merge-patch+json',
      body: { metadata: { labels: { mine: 'yes' } } },
    })
    await install(
      defineKind({
        ...names,
        shortNames: ['web'],
        spec: {
          type: 'object',
          properties: { url: { type: 'string' }, tls: { type: 'boolean', default: true } },
        } as const,
      }),
    )
    expect((await tested.ask('GET', definitionPath)).json).toMatchObject({
      metadata: { labels: { mine: 'yes' } },
      spec: { names: { shortNames: ['web'] } },
    })
    expect((await tested.ask('POST', path(), { body: site({ url: 'x' }) })).json['spec']).toEqual({
      url: 'x',
      tls: true,
    })
  })

  test('puts versions of a kind into one definition, and keeps those that objects may be stored in', async () => {
    tested = await TestServer.start()
    const versions = async (): Promise<unknown> =>
      (
        (await tested.ask('GET', definitionPath)).json['spec']?.['versions'] as unknown as {
          name: string
          storage: boolean
        }[]
      ).map(({ name, storage }) => `${name}${storage ? ' stored' : ''}`)
    await install(defineKind({ ...names, version: 'v1beta1', spec: raw }))
    await tested.ask('POST', path('v1beta1'), { body: site({ url: 'x' }, 'v1beta1') })
    await install(
      defineKind({ ...names, version: 'v1', spec: raw }),
      defineKind({ ...names, version: 'v1alpha1', spec: raw }),
    )
    expect(await versions()).toEqual(['v1 stored', 'v1alpha1', 'v1beta1'])
    expect((await tested.ask('GET', `${path()}/a`)).json).toMatchObject({
      apiVersion: 'demo.example.com/v1',
      spec: { url: 'x' },
    })
    await install(defineKind({ ...names, version: 'v1', spec: raw }))
    expect(await versions()).toEqual(['v1 stored', 'v1beta1'])
    await expect(install(defineKind({ ...names, spec: raw }), defineKind({ ...names, spec: raw }))).rejects.toThrow(
      'Website of websites.demo.example.com is given twice in version v1',
    )
  })

  test('says when a name is taken, and hands on what the server refuses', async () => {
    tested = await TestServer.start()
    await install(defineKind({ ...names, shortNames: ['web'], spec: raw }))
    await expect(install(defineKind({ ...names, kind: 'Webhouse', shortNames: ['web'], spec: raw }))).rejects.toThrow(
      'cannot serve webhouses.demo.example.com: one of its names is taken: "web" is already in use',
    )
    await expect(install(defineKind({ ...names, scope: 'Cluster', spec: raw }))).rejects.toThrow(
      'spec.scope: Invalid value: "Cluster": field is immutable',
    )
  })

  test('quotes the beginning of an answer that is no answer of an API server', async () => {
    tested = await TestServer.start()
    const transport = () => Promise.resolve({ status: 502, headers: {}, body: Buffer.from('x'.repeat(5000)) })
    await expect(
      installKinds(transport, [defineKind({ ...names, spec: raw })], { clock: tested.clock }),
    ).rejects.toMatchObject({ causes: [{ message: 'x'.repeat(1024) }] })
  })

  test('waits for a server that takes its time, but not for ever', async () => {
    tested = await TestServer.start()
    const unsettled = { metadata: { name: 'websites.demo.example.com' }, spec: { versions: [] }, status: {} }
    const transport = (): Promise<{ status: number; headers: object; body: Uint8Array }> =>
      Promise.resolve({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(unsettled)) })
    const installing = installKinds(transport as never, [defineKind({ ...names, spec: raw })], {
      clock: tested.clock,
      timeoutMs: 1000,
    })
    const failed = expect(installing).rejects.toThrow('gave up after 1000 ms')
    await tested.clock.advance(1000)
    await failed
  })
})

test('F16: an action whose condition has a mistake is refused before anything is installed', async () => {
  tested = await TestServer.start()
  const kindWith = (enabledWhen: string): Kind => ({
    ...defineKind({ ...names, spec: raw }),
    actions: [{ name: 'stop', form: 'state', patch: { spec: { replicas: 0 } }, enabledWhen }],
  })
  await expect(installKinds(tested.server.transport, [kindWith('object.spec.replicas >')])).rejects.toThrow(
    /^action stop of Website: enabledWhen "object\.spec\.replicas >": .*Syntax error/,
  )
  expect((await tested.ask('GET', definitionPath)).status).toBe(404)
  await installKinds(tested.server.transport, [kindWith('object.spec.replicas > 0')])
  expect((await tested.ask('GET', definitionPath)).status).toBe(200)
})
