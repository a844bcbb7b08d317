import { describe, expect, expectTypeOf, test } from 'vitest'
import { declareKind, defineKind, type KubeObject, type ObjectList, type Stored } from '#api'
import type { Client } from './client.ts'
import { configMap, fakeClient, FakeServer, json, refusal } from './fake.fixture.ts'
import { metadataOnly, refTo } from './resource.ts'

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

const ConfigMap = declareKind<ConfigMap>({ group: '', version: 'v1', kind: 'ConfigMap' })
const Node = declareKind({ group: '', version: 'v1', kind: 'Node', scope: 'Cluster' })
const Website = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Website',
  spec: {
    type: 'object',
    required: ['image'],
    properties: { image: { type: 'string' }, replicas: { type: 'integer', default: 1 } },
  },
  status: { type: 'object', properties: { ready: { type: 'integer' } } },
})
const key = { namespace: 'ns', name: 'a' }
const site = {
  ...configMap('a'),
  apiVersion: Website.apiVersion,
  kind: Website.kind,
  spec: { image: 'x', replicas: 1 },
}

/** Speaks at compile time only: it is never called. */
export function typesFollowTheKind(client: Client): void {
  expectTypeOf(client.get(Website, key))
    .resolves.toHaveProperty('spec')
    .toEqualTypeOf<{ readonly image: string; readonly replicas: number }>()
  expectTypeOf(client.get(Website, key))
    .resolves.toHaveProperty('metadata')
    .toHaveProperty('generation')
    .toEqualTypeOf<number>()
  expectTypeOf(client.find(ConfigMap, key)).resolves.toEqualTypeOf<Stored<ConfigMap> | undefined>()
  expectTypeOf(client.list(ConfigMap)).resolves.toEqualTypeOf<ObjectList<Stored<ConfigMap>>>()
  expectTypeOf(client.get(metadataOnly(ConfigMap), key)).resolves.toEqualTypeOf<Stored<KubeObject>>()
  expectTypeOf(client.patch(refTo(ConfigMap, key), {})).resolves.toEqualTypeOf<Stored<ConfigMap>>()
  // @ts-expect-error the image is missing
  void client.create(Website, { metadata: key, spec: {} })
  // @ts-expect-error no such field in the status
  void client.patchStatus(site as unknown as Stored<ConfigMap & { status?: { ready: number } }>, { redy: 1 })
}

describe('requests', () => {
  const sent = async (
    act: (client: ReturnType<typeof fakeClient>['client']) => Promise<unknown>,
    options = {},
  ): Promise<FakeServer> => {
    const server = new FakeServer(json(configMap('a')))
    await act(fakeClient(server, { fieldManager: 'me', kinds: [ConfigMap, Node, Website], ...options }).client)
    return server
  }

  test.each<[string, (client: ReturnType<typeof fakeClient>['client']) => Promise<unknown>, string]>([
    ['get', (client) => client.get(ConfigMap, key), 'GET /api/v1/namespaces/ns/configmaps/a'],
    ['get of a kind without namespaces', (client) => client.get(Node, key), 'GET /api/v1/nodes/a'],
    [
      'get at any version',
      (client) => client.get(Website, key, { resourceVersion: '0' }),
      'GET /apis/demo.example.com/v1/namespaces/ns/websites/a?resourceVersion=0',
    ],
    [
      'create',
      (client) => client.create(ConfigMap, { metadata: key }),
      'POST /api/v1/namespaces/ns/configmaps?fieldManager=me',
    ],
    [
      'create, dry and strict',
      (client) => client.create(configMap('a'), { dryRun: true, fieldValidation: 'Strict' }),
      'POST /api/v1/namespaces/ns/configmaps?dryRun=All&fieldManager=me&fieldValidation=Strict',
    ],
    [
      'update',
      (client) => client.update(configMap('a'), { fieldManager: 'you' }),
      'PUT /api/v1/namespaces/ns/configmaps/a?fieldManager=you',
    ],
    [
      'apply',
      (client) => client.apply(configMap('a'), { force: true }),
      'PATCH /api/v1/namespaces/ns/configmaps/a?fieldManager=me&force=true',
    ],
    [
      'updateStatus',
      (client) => client.updateStatus(site),
      'PUT /apis/demo.example.com/v1/namespaces/ns/websites/a/status?fieldManager=me',
    ],
    [
      'applyStatus',
      (client) => client.applyStatus(site),
      'PATCH /apis/demo.example.com/v1/namespaces/ns/websites/a/status?fieldManager=me',
    ],
    ['getScale', (client) => client.getScale(site), 'GET /apis/demo.example.com/v1/namespaces/ns/websites/a/scale'],
    [
      'a subresource that is created',
      (client) => client.subresource('eviction').create(configMap('a'), configMap('a')),
      'POST /api/v1/namespaces/ns/configmaps/a/eviction?fieldManager=me',
    ],
    [
      'log',
      (client) => client.subresource('log').text(configMap('a'), { parameters: { tailLines: 5 } }),
      'GET /api/v1/namespaces/ns/configmaps/a/log?tailLines=5',
    ],
    [
      'log as a stream',
      (client) =>
        client
          .subresource('log')
          .stream(configMap('a'), { parameters: { follow: true } })
          .next(),
      'GET /api/v1/namespaces/ns/configmaps/a/log?follow=true',
    ],
    ['delete', (client) => client.delete(configMap('a')), 'DELETE /api/v1/namespaces/ns/configmaps/a'],
    [
      'deleteAllOf',
      (client) => client.deleteAllOf(ConfigMap, { namespace: 'ns', labelSelector: 'a=b' }),
      'DELETE /api/v1/namespaces/ns/configmaps?labelSelector=a=b',
    ],
    [
      'names are encoded',
      (client) => client.get(ConfigMap, { namespace: 'ns', name: 'a:b?c' }),
      'GET /api/v1/namespaces/ns/configmaps/a:b?c',
    ],
  ])('%s', async (_, act, line) => {
    expect((await sent(act)).lines).toEqual([line])
  })

  test('the headers say what is sent, wanted, and by whom', async () => {
    const server = await sent((client) => client.apply(configMap('a'), { reconcileId: 'r-1' }), { userAgent: 'shop/2' })
    expect(server.requests[0]?.headers).toEqual({
      accept: 'application/json',
      'user-agent': 'shop/2 reconcile/r-1',
      'content-type': 'application/apply-patch+yaml',
    })
    const partial = await sent((client) => client.get(metadataOnly(ConfigMap), key))
    expect(partial.requests[0]?.headers['accept']).toBe('application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1')
  })

  test('patches: each with its type, a status alone, a lock', async () => {
    const bodies = async (act: Parameters<typeof sent>[0]): Promise<unknown[]> => {
      const server = await sent(act)
      return [server.requests[0]?.headers['content-type'], server.body(0)]
    }
    expect(await bodies((client) => client.patch(configMap('a'), { data: { x: null } }))).toEqual([
      'application/merge-patch+json',
      { data: { x: null } },
    ])
    expect(
      await bodies((client) => client.patch(configMap('a'), [{ op: 'remove', path: '/data' }], { type: 'json' })),
    ).toEqual(['application/json-patch+json', [{ op: 'remove', path: '/data' }]])
    expect(await bodies((client) => client.patch(configMap('a'), {}, { type: 'strategic' }))).toEqual([
      'application/strategic-merge-patch+json',
      {},
    ])
    expect(await bodies((client) => client.patchStatus(site, { ready: 2 }))).toEqual([
      'application/merge-patch+json',
      { status: { ready: 2 } },
    ])
    const from = configMap('a', { data: { x: '1', __proto__: 0 } })
    expect(await bodies((client) => client.patchFrom(from, { ...from, data: { y: '2' } } as typeof from))).toEqual([
      'application/merge-patch+json',
      { data: { x: null, y: '2' }, metadata: { resourceVersion: '5' } },
    ])
    expect(
      await bodies((client) =>
        client.patchFrom(from, { ...from, data: { y: '2' } } as typeof from, { optimisticLock: false }),
      ),
    ).toMatchObject([{}, { data: { y: '2' } }])
    const observed = { ...site, status: { ready: 1 } }
    expect(
      await bodies((client) => client.subresource('status').patchFrom(observed, { ...observed, status: { ready: 2 } })),
    ).toEqual(['application/merge-patch+json', { status: { ready: 2 }, metadata: { resourceVersion: '5' } }])
    await expect(sent((client) => client.patch(configMap('a'), {}, { type: 'json' }))).rejects.toThrow(
      'a patch of type json is a list of operations',
    )
  })

  test('delete: what is said goes into the body', async () => {
    const server = await sent((client) =>
      client.delete(configMap('a'), {
        preconditions: { uid: 'u' },
        propagationPolicy: 'Foreground',
        gracePeriodSeconds: 0,
        dryRun: true,
      }),
    )
    expect(server.body(0)).toEqual({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid: 'u' },
      propagationPolicy: 'Foreground',
      gracePeriodSeconds: 0,
      dryRun: ['All'],
    })
  })

  test('a namespace that is missing is told before anything is sent; the client may have one', async () => {
    const server = new FakeServer(json(configMap('a')))
    const { client } = fakeClient(server)
    await expect(client.get(ConfigMap, { name: 'a' })).rejects.toThrow('ConfigMap (v1) "a" needs a namespace')
    await expect(client.deleteAllOf(ConfigMap)).rejects.toThrow('needs a namespace')
    expect(server.lines).toEqual([])
    await client.with({ namespace: 'mine' }).create(ConfigMap, { metadata: { name: 'a' } })
    expect([server.lines[0], server.body(0)]).toEqual([
      'POST /api/v1/namespaces/mine/configmaps',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'mine' } },
    ])
  })

  test.each(['..', '.', 'a/b', 'a%2fb', ''])(
    'a name that would lead elsewhere is refused before anything is sent: %j',
    async (name) => {
      const server = new FakeServer(json(configMap('a')))
      const { client } = fakeClient(server, { kinds: [ConfigMap] })
      await expect(client.get(ConfigMap, { namespace: 'ns', name })).rejects.toThrow(RangeError)
      await expect(client.delete(refTo(ConfigMap, { namespace: 'ns', name }))).rejects.toThrow(RangeError)
      if (name !== '') {
        await expect(client.get(ConfigMap, { namespace: name, name: 'a' })).rejects.toThrow(RangeError)
        await expect(client.list(ConfigMap, { namespace: name })).rejects.toThrow(RangeError)
        await expect(client.watch(ConfigMap, { namespace: name }).next()).rejects.toThrow(RangeError)
        await expect(client.deleteAllOf(ConfigMap, { namespace: name })).rejects.toThrow(RangeError)
      }
      expect(server.lines).toEqual([])
    },
  )

  test('hooks see every write, and may refuse it before it is sent', async () => {
    const seen: unknown[] = []
    const server = await sent(
      async (client) => {
        await client.apply(configMap('a'), { reconcileId: 'r' })
        await client.patchStatus(site, {})
      },
      {
        beforeWrite: (write: object) => {
          seen.push(write)
        },
        afterWrite: (_: object, object: KubeObject) => {
          seen.push(object.metadata.resourceVersion)
        },
      },
    )
    expect(server.requests).toHaveLength(2)
    expect(seen).toEqual([
      {
        verb: 'apply',
        apiVersion: 'v1',
        kind: 'ConfigMap',
        namespace: 'ns',
        name: 'a',
        dryRun: false,
        reconcileId: 'r',
      },
      '5',
      {
        verb: 'patch',
        apiVersion: 'demo.example.com/v1',
        kind: 'Website',
        namespace: 'ns',
        name: 'a',
        subresource: 'status',
        dryRun: false,
      },
      '5',
    ])
    const gated = fakeClient(server, {
      kinds: [ConfigMap],
      beforeWrite: () => {
        throw new Error('the lease is over')
      },
    }).client
    await expect(gated.create(configMap('b'))).rejects.toThrow('the lease is over')
    expect(server.requests).toHaveLength(2)
  })
})

test('the write gate is asked at every attempt, so a write that waited does not leave too late (112)', async () => {
  const server = new FakeServer(
    refusal(429, 'TooManyRequests', { headers: { 'retry-after': '20' } }),
    json(configMap('a')),
  )
  let isLeader = true
  const { client, clock } = fakeClient(server, {
    kinds: [ConfigMap],
    writeGate: () => {
      if (!isLeader) throw new Error('the lease is over')
    },
  })
  const written = expect(client.update(configMap('a'))).rejects.toThrow('the lease is over')
  await clock.advance(10_000)
  isLeader = false
  await clock.advance(20_000)
  await written
  expect(server.requests).toHaveLength(1)
  expect(await client.get(ConfigMap, key)).toMatchObject({ kind: 'ConfigMap' })
})

describe('writes that read first', () => {
  test('a child of an owner that is being deleted is refused, and nothing is sent (58)', async () => {
    const server = new FakeServer(json(configMap('a')))
    const { client } = fakeClient(server, { kinds: [ConfigMap], fieldManager: 'me' })
    const owner = configMap('owner')
    const dying = { ...owner, metadata: { ...owner.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    await expect(client.create(configMap('child'), { owner: dying })).rejects.toThrow(
      'cannot create ConfigMap child: its owner ConfigMap owner is being deleted',
    )
    await expect(client.apply(configMap('child'), { owner: dying })).rejects.toThrow('is being deleted')
    expect(server.lines).toEqual([])
    await client.create(configMap('child'), { owner })
    expect(server.body(0)).toMatchObject({
      metadata: { ownerReferences: [{ name: 'owner', uid: 'uid-owner', controller: true }] },
    })
  })

  test('a finalizer on an object that is being deleted is never attempted (123)', async () => {
    const server = new FakeServer(json(configMap('a')))
    const { client } = fakeClient(server, { kinds: [ConfigMap] })
    const object = configMap('a')
    await expect(
      client.addFinalizer(
        { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
        'x.example.com/y',
      ),
    ).rejects.toThrow('is being deleted')
    expect(server.lines).toEqual([])
  })

  test('a finalizer is written with a lock, and again after a conflict', async () => {
    const newer = { ...configMap('a'), metadata: { ...configMap('a').metadata, resourceVersion: '6' } }
    const server = new FakeServer(refusal(409, 'Conflict'), json(newer), json(newer))
    const { client, clock } = fakeClient(server, { kinds: [ConfigMap] })
    const added = client.addFinalizer(configMap('a'), 'x.example.com/y')
    await clock.advance(100)
    await added
    expect(server.lines.map((line) => line.split(' ')[0])).toEqual(['PATCH', 'GET', 'PATCH'])
    expect([server.body(0), server.body(2)]).toEqual(
      ['5', '6'].map((resourceVersion) => ({ metadata: { finalizers: ['x.example.com/y'], resourceVersion } })),
    )
  })

  test('a finalizer is not taken from another object of the same name', async () => {
    const held = { ...configMap('a'), metadata: { ...configMap('a').metadata, finalizers: ['x.example.com/y'] } }
    const server = new FakeServer(
      refusal(409, 'Conflict'),
      json({ ...held, metadata: { ...held.metadata, uid: 'another' } }),
    )
    const { client, clock } = fakeClient(server, { kinds: [ConfigMap] })
    const removed = client.removeFinalizer(held, 'x.example.com/y')
    await clock.advance(100)
    expect(await removed).toBeUndefined()
    expect(server.requests).toHaveLength(2)
  })

  test('createOrUpdate reads again when somebody else was faster', async () => {
    const server = new FakeServer(
      refusal(404, 'NotFound'),
      refusal(409, 'AlreadyExists'),
      json(configMap('a')),
      refusal(409, 'Conflict'),
      json(configMap('a')),
      json(configMap('a', { data: {} })),
    )
    const { client, clock } = fakeClient(server, { kinds: [ConfigMap] })
    const done = client.createOrUpdate(configMap('a'), (current) => ({ ...current, data: {} }))
    await clock.advance(1000)
    expect((await done).operation).toBe('updated')
    expect(server.lines.map((line) => line.split(' ')[0])).toEqual(['GET', 'POST', 'GET', 'PUT', 'GET', 'PUT'])
  })
})
