import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { UnstructuredObject } from '#api'
import { openMemoryStore } from '#store'
import { TestServer } from '../client.fixture.ts'
import { Unstamped } from '../storage/stored-object.ts'
import {
  convertHost,
  definition,
  definitionPath,
  definitions,
  host,
  pathOf,
  type HostName,
} from './conversion.fixture.ts'

const conversions = { 'hosts.conv.example.com': convertHost }
const merge = 'application/merge-patch+json'
let tested: TestServer

beforeEach(async () => {
  tested = await TestServer.start({ conversions })
  await tested.ask('POST', definitions, { body: definition() })
})
afterEach(async () => {
  await tested.server.stop()
})

const post = (name: HostName, spec: object, metadata: object = {}): ReturnType<TestServer['ask']> =>
  tested.ask('POST', pathOf(name.startsWith('v1/') ? 'v1' : 'v2'), { body: host(name, spec, metadata) })
const specOf = async (version: 'v1' | 'v2', name: string): Promise<unknown> =>
  (await tested.ask('GET', pathOf(version, name))).json['spec']
const patch = (path: string, body: object, type = merge): ReturnType<TestServer['ask']> =>
  tested.ask('PATCH', path, { body, type })

/** Makes the definition store another version. */
async function store(stored: 'v1' | 'v2', served?: readonly string[]): Promise<void> {
  const { spec } = definition({ stored, ...(served && { served }) }) as { spec: object }
  expect((await patch(definitionPath, { spec })).status).toBe(200)
}

describe('an object of a kind in several versions', () => {
  test('is read in each of them, whichever it was written in', async () => {
    expect((await post('v1/a', { host: 'h', port: 1 })).json).toMatchObject({
      apiVersion: 'conv.example.com/v1',
      spec: { host: 'h', port: 1 },
    })
    expect((await post('v2/b', { address: 'i:2' })).json).toMatchObject({
      apiVersion: 'conv.example.com/v2',
      metadata: { generation: 1 },
      spec: { address: 'i:2' },
    })
    expect(await specOf('v2', 'a')).toEqual({ address: 'h:1' })
    expect(await specOf('v1', 'b')).toEqual({ host: 'i', port: 2 })
    const { json } = await tested.ask('GET', pathOf('v2'))
    expect(json['items']).toMatchObject([
      { apiVersion: 'conv.example.com/v2', spec: { address: 'h:1' } },
      { spec: { address: 'i:2' } },
    ])
  })

  test('has the defaults of the version it is stored in', async () => {
    await post('v2/a', { note: 'n' })
    expect(await specOf('v1', 'a')).toEqual({ note: 'n', port: 80 })
    expect(await specOf('v2', 'a')).toEqual({ note: 'n' })
  })

  test('is changed in any of them, and keeps its preconditions', async () => {
    const made = await post('v1/a', { host: 'h', port: 1 })
    expect((await patch(pathOf('v2', 'a'), { spec: { address: 'j:3' } })).json).toMatchObject({
      metadata: { generation: 2 },
      spec: { address: 'j:3' },
    })
    expect(
      (
        await patch(
          pathOf('v2', 'a'),
          [
            { op: 'test', path: '/spec/address', value: 'j:3' },
            { op: 'add', path: '/spec/size', value: 2 },
          ],
          'application/json-patch+json',
        )
      ).status,
    ).toBe(200)
    expect(await specOf('v1', 'a')).toEqual({ host: 'j', port: 3, size: 2 })
    expect(
      (await tested.ask('PUT', pathOf('v2', 'a'), { body: { ...made.json, apiVersion: 'conv.example.com/v2' } }))
        .status,
    ).toBe(409)
    expect((await tested.ask('DELETE', pathOf('v2', 'a'), { body: { preconditions: { uid: 'other' } } })).status).toBe(
      409,
    )
    expect(
      (
        await tested.ask('DELETE', pathOf('v2', 'a'), {
          body: { preconditions: { uid: made.json['metadata']?.['uid'] } },
        })
      ).status,
    ).toBe(200)
  })

  test('has its status and scale in each of them', async () => {
    await post('v1/a', { host: 'h', size: 2 })
    expect((await patch(`${pathOf('v2', 'a')}/status`, { status: { ready: true, replicas: 1 } })).json).toMatchObject({
      apiVersion: 'conv.example.com/v2',
      status: { ready: true },
    })
    expect((await patch(`${pathOf('v2', 'a')}/scale`, { spec: { replicas: 5 } })).json).toMatchObject({
      spec: { replicas: 5 },
      status: { replicas: 1 },
    })
    expect((await tested.ask('GET', `${pathOf('v2', 'a')}/scale`)).json).toMatchObject({ spec: { replicas: 5 } })
    expect((await tested.ask('GET', pathOf('v1', 'a'))).json).toMatchObject({
      spec: { host: 'h', size: 5 },
      status: { replicas: 1 },
    })
  })

  test('is selected by the fields of the version that is asked for', async () => {
    await post('v1/a', { host: 'h', port: 1 })
    await post('v1/b', { host: 'i', port: 1 })
    expect((await tested.ask('GET', `${pathOf('v2')}?fieldSelector=spec.address%3Di:1`)).json['items']).toMatchObject([
      { metadata: { name: 'b' } },
    ])
    expect((await tested.ask('GET', `${pathOf('v2')}?fieldSelector=spec.host%3Di`)).status).toBe(400)
    const events = await tested.watch(`${pathOf('v2')}?watch=true&fieldSelector=spec.address%3Dk:9`)
    await patch(pathOf('v1', 'a'), { spec: { host: 'k', port: 9 } })
    await patch(pathOf('v1', 'a'), { spec: { port: 8 } })
    expect(await events.take(2)).toEqual(['ADDED a', 'DELETED a'])
    await events.close()
  })

  test('is told to who watches in their version', async () => {
    await post('v1/a', { host: 'h', port: 1 })
    const watches = await Promise.all([1, 2].map(() => tested.watch(`${pathOf('v2')}?watch=true`)))
    await patch(pathOf('v1', 'a'), { spec: { port: 2 } })
    await tested.ask('DELETE', pathOf('v1', 'a'))
    for (const events of watches) {
      const seen = [await events.next(), await events.next(), await events.next()]
      expect(seen).toMatchObject([
        { type: 'ADDED', object: { apiVersion: 'conv.example.com/v2', spec: { address: 'h:1' } } },
        { type: 'MODIFIED', object: { spec: { address: 'h:2' } } },
        { type: 'DELETED', object: { spec: { address: 'h:2' } } },
      ])
      await events.close()
    }
  })

  test('is applied in any version, by managers of several', async () => {
    const apply = (version: 'v1' | 'v2', manager: string, spec: object): ReturnType<TestServer['ask']> =>
      patch(
        `${pathOf(version, 'a')}?fieldManager=${manager}`,
        host(`${version}/a`, spec),
        'application/apply-patch+yaml',
      )
    expect((await apply('v1', 'one', { host: 'h', port: 1, size: 1 })).status).toBe(201)
    expect((await apply('v2', 'two', { size: 1 })).json).toMatchObject({ metadata: { generation: 1 } })
    expect(await apply('v2', 'two', { address: 'n:1', size: 2 })).toMatchObject({
      status: 409,
      json: { details: { causes: [{ field: '.spec.host' }, { field: '.spec.size' }] } },
    })
    const { json } = await apply('v2', 'one', { address: 'm:2' })
    expect(json['spec']).toMatchObject({ address: 'm:2', size: 1 })
    expect(json['metadata']?.['managedFields']).toMatchObject([
      { manager: 'two', apiVersion: 'conv.example.com/v2', fieldsV1: { 'f:spec': { 'f:size': {} } } },
      { manager: 'one', apiVersion: 'conv.example.com/v2', fieldsV1: { 'f:spec': { 'f:address': {} } } },
    ])
    expect(await specOf('v1', 'a')).toEqual({ host: 'm', port: 2, size: 1 })
  })

  test('shows what a dry run would come to, and stores nothing', async () => {
    expect(
      (await tested.ask('POST', `${pathOf('v2')}?dryRun=All`, { body: host('v2/a', { address: 'h:1' }) })).json,
    ).toMatchObject({ apiVersion: 'conv.example.com/v2', spec: { address: 'h:1' } })
    await post('v1/a', { host: 'h', port: 1 })
    expect((await patch(`${pathOf('v2', 'a')}?dryRun=All`, { spec: { address: 'x:9' } })).json['spec']).toEqual({
      address: 'x:9',
    })
    expect(await specOf('v2', 'a')).toEqual({ address: 'h:1' })
  })
})

describe('another stored version', () => {
  test('is noted, and objects move to it when they are written, changed or not', async () => {
    await post('v1/a', { host: 'h', port: 1 })
    await store('v2')
    expect((await tested.ask('GET', definitionPath)).json['status']).toMatchObject({ storedVersions: ['v1', 'v2'] })
    expect(await specOf('v2', 'a')).toEqual({ address: 'h:1' })
    expect(await specOf('v1', 'a')).toEqual({ host: 'h', port: 1 })
    const { json } = await tested.ask('GET', pathOf('v1', 'a'))
    const put = await tested.ask('PUT', pathOf('v1', 'a'), { body: json })
    expect(put.json['metadata']?.['resourceVersion']).not.toBe(json['metadata']?.['resourceVersion'])
    expect(await specOf('v2', 'a')).toEqual({ address: 'h:1', mode: 'fast' })
    const again = await tested.ask('PUT', pathOf('v1', 'a'), { body: put.json })
    expect(again.json['metadata']?.['resourceVersion']).toBe(put.json['metadata']?.['resourceVersion'])
  })

  test('leaves the old one behind when somebody says that nothing is stored in it', async () => {
    await store('v2')
    const only = {
      spec: { versions: (definition({ stored: 'v2' }) as { spec: { versions: unknown[] } }).spec.versions.slice(1) },
    }
    expect((await patch(definitionPath, only)).json).toMatchObject({
      code: 422,
      message: expect.stringContaining('v1 was previously a storage version') as string,
    })
    expect(
      (await patch(`${definitionPath}/status`, { status: { storedVersions: ['v2'] } })).json['status'],
    ).toMatchObject({ storedVersions: ['v2'] })
    expect((await patch(definitionPath, only)).status).toBe(200)
    expect((await tested.ask('GET', pathOf('v1'))).status).toBe(404)
    expect((await tested.ask('GET', pathOf('v2'))).status).toBe(200)
  })

  test('may be one that is not served', async () => {
    await post('v1/a', { host: 'h', port: 1 })
    await store('v1', ['v2'])
    expect((await tested.ask('GET', pathOf('v1', 'a'))).status).toBe(404)
    expect(await specOf('v2', 'a')).toEqual({ address: 'h:1' })
    expect((await patch(pathOf('v2', 'a'), { spec: { address: 'i:2' } })).json).toMatchObject({
      spec: { address: 'i:2' },
    })
    expect((await tested.ask('DELETE', definitionPath)).status).toBe(200)
    expect((await tested.ask('GET', definitionPath)).status).toBe(404)
  })

  test('is the one that a deletion marks objects in', async () => {
    await post('v1/a', { host: 'h', port: 1 }, { finalizers: ['example.com/wait'] })
    await store('v2')
    expect((await tested.ask('DELETE', pathOf('v1', 'a'))).json).toMatchObject({
      apiVersion: 'conv.example.com/v1',
      spec: { host: 'h' },
    })
    expect((await tested.ask('GET', pathOf('v2', 'a'))).json).toMatchObject({
      apiVersion: 'conv.example.com/v2',
      spec: { address: 'h:1', mode: 'fast' },
    })
    expect((await patch(pathOf('v1', 'a'), { metadata: { finalizers: null } })).status).toBe(200)
    expect((await tested.ask('GET', pathOf('v1', 'a'))).status).toBe(404)
  })

  test('is shown also of objects that a server wrote in the old one after the change', async () => {
    const kept = openMemoryStore()
    const server = await TestServer.start({ store: kept, conversions })
    await server.ask('POST', definitions, { body: definition({ stored: 'v2' }) })
    const late = host('v1/a', { host: 'h', port: 1 }, { namespace: 'default', uid: 'u' }) as UnstructuredObject
    const text = new Unstamped(late)
    const key = '/default/conv.example.com/hosts/default/a'
    await kept.commit({ key, expect: 0, value: text.value, stampAt: text.stampAt })
    const shown = { apiVersion: 'conv.example.com/v2', spec: { address: 'h:1' } }
    expect((await server.ask('GET', pathOf('v2', 'a'))).json).toMatchObject(shown)
    expect((await server.ask('GET', pathOf('v2'))).json['items']).toMatchObject([shown])
    await server.server.stop()
    await kept.close()
  })

  test('is converted to by name alone when there is no conversion', async () => {
    const kept = openMemoryStore()
    const plain = await TestServer.start({ store: kept })
    await plain.ask('POST', definitions, { body: definition() })
    await plain.ask('POST', pathOf('v1'), {
      body: host('v1/a', { host: 'h', note: 'n' }, { finalizers: ['example.com/wait'] }),
    })
    await plain.ask('PATCH', definitionPath, {
      type: merge,
      body: { spec: (definition({ stored: 'v2' }) as { spec: object }).spec },
    })
    await plain.ask('DELETE', pathOf('v2', 'a'))
    expect((await plain.ask('GET', pathOf('v2', 'a'))).json).toMatchObject({
      apiVersion: 'conv.example.com/v2',
      spec: { note: 'n', mode: 'fast' },
    })
    expect((await plain.ask('GET', pathOf('v1', 'a'))).json).toMatchObject({
      apiVersion: 'conv.example.com/v1',
      spec: { note: 'n' },
    })
    await plain.server.stop()
    await kept.close()
  })
})

describe('a conversion function', () => {
  test('that fails fails the request, and only where it is needed', async () => {
    await post('v1/a', { host: 'h', port: 1 })
    const broken = await TestServer.start({
      conversions: {
        'hosts.conv.example.com': () => {
          throw new Error('cannot do it')
        },
      },
    })
    await broken.ask('POST', definitions, { body: definition() })
    expect((await broken.ask('POST', pathOf('v1'), { body: host('v1/a', {}) })).status).toBe(201)
    const refused = {
      status: 500,
      json: { message: 'conversion function for conv.example.com/v1, Kind=Host failed: cannot do it' },
    }
    expect(await broken.ask('GET', pathOf('v2', 'a'))).toMatchObject(refused)
    expect(await broken.ask('GET', pathOf('v2'))).toMatchObject(refused)
    expect((await broken.ask('GET', pathOf('v1', 'a'))).status).toBe(200)
    const events = await broken.watch(`${pathOf('v2')}?watch=true`)
    expect(await events.next()).toMatchObject({ type: 'ERROR', object: { code: 500 } })
    await broken.server.stop()
  })

  test('may answer later, and is held to what it may change', async () => {
    const later = await TestServer.start({
      conversions: {
        'hosts.conv.example.com': async (object, version) => {
          await Promise.resolve()
          return { ...convertHost(object, version), metadata: { ...object.metadata, name: 'other' } }
        },
      },
    })
    await later.ask('POST', definitions, { body: definition() })
    await later.ask('POST', pathOf('v1'), { body: host('v1/a', {}) })
    expect((await later.ask('GET', pathOf('v2', 'a'))).json).toMatchObject({
      message:
        'conversion function for conv.example.com/v1, Kind=Host returned invalid object: must have the same name: a != other',
    })
    await later.server.stop()
  })
})

test('an object says the same in both versions, whatever was written through either and wherever it was stored', async () => {
  const change = fc.record({
    version: fc.constantFrom('v1' as const, 'v2' as const),
    place: fc.stringMatching(/^[a-z]{1,5}$/),
    port: fc.integer({ min: 1, max: 9 }),
    size: fc.integer({ min: 1, max: 9 }),
    stored: fc.option(fc.constantFrom('v1' as const, 'v2' as const), { freq: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
      await tested.ask('DELETE', pathOf('v1', 'p'))
      await post('v1/p', { host: 'start', port: 1 })
      for (const { version, place, port, size, stored } of changes) {
        if (stored) await store(stored)
        const spec = version === 'v1' ? { host: place, port, size } : { address: `${place}:${port}`, size }
        expect((await patch(pathOf(version, 'p'), { spec })).status).toBe(200)
        expect(await specOf('v1', 'p')).toEqual({ host: place, port, size })
        expect(await specOf('v2', 'p')).toMatchObject({ address: `${place}:${port}`, size })
      }
    }),
    { numRuns: 15 },
  )
})
