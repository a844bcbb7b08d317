import { describe, expect, test } from 'vitest'
import { declareKind } from '#api'
import { configMap, fakeClient, FakeServer, json, refusal } from './fake.fixture.ts'
import { metadataOnly } from './resource.ts'

const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap' })

function page(names: readonly string[], { token, version = '10' }: { token?: string; version?: string } = {}) {
  return json({
    kind: 'ConfigMapList',
    apiVersion: 'v1',
    metadata: { resourceVersion: version, ...(token && { continue: token, remainingItemCount: 1 }) },
    items: names.map((name) => ({ metadata: { name } })),
  })
}

describe('Client.list', () => {
  test('joins pages; later ones carry the token alone, no version (82)', async () => {
    const server = new FakeServer(
      page(['a', 'b'], { token: 't1' }),
      page(['c'], { token: 't2', version: '10' }),
      page(['d']),
    )
    const { client } = fakeClient(server)
    const list = await client.list(ConfigMap, {
      resourceVersion: '7',
      resourceVersionMatch: 'NotOlderThan',
      labelSelector: 'x',
      pageSize: 2,
    })
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c', 'd'])
    expect(list.metadata).toEqual({ resourceVersion: '10' })
    expect(server.lines).toEqual([
      'GET /api/v1/configmaps?labelSelector=x&limit=2&resourceVersion=7&resourceVersionMatch=NotOlderThan',
      'GET /api/v1/configmaps?labelSelector=x&limit=2&continue=t1',
      'GET /api/v1/configmaps?labelSelector=x&limit=2&continue=t2',
    ])
  })

  test('a token that expires on the way costs one full list, without duplicates, of its own version (81)', async () => {
    const server = new FakeServer(
      page(['a', 'b'], { token: 't1' }),
      refusal(410, 'Expired'),
      page(['b', 'c'], { version: '20' }),
    )
    const { client } = fakeClient(server)
    const list = await client.list(ConfigMap, { pageSize: 2 })
    expect([list.items.map(({ metadata }) => metadata.name), list.metadata.resourceVersion]).toEqual([['b', 'c'], '20'])
    expect(server.lines[2]).toBe('GET /api/v1/configmaps')
  })

  test("an expired first page is the caller's", async () => {
    const { client } = fakeClient(new FakeServer(refusal(410, 'Expired')))
    await expect(client.list(ConfigMap)).rejects.toMatchObject({ reason: 'Expired' })
  })

  test('items have their type, also when the server leaves it out or sends metadata alone; null is no items', async () => {
    const { client } = fakeClient(
      new FakeServer(
        page(['a']),
        json({
          kind: 'PartialObjectMetadataList',
          apiVersion: 'meta.k8s.io/v1',
          metadata: {},
          items: [{ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' } }],
        }),
        json({ kind: 'ConfigMapList', items: null }),
      ),
    )
    expect((await client.list(ConfigMap)).items[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' })
    expect(await client.list(metadataOnly(ConfigMap))).toMatchObject({
      kind: 'ConfigMapList',
      items: [{ apiVersion: 'v1', kind: 'ConfigMap' }],
    })
    expect((await client.list(ConfigMap)).items).toEqual([])
  })

  test('something that is no list is told', async () => {
    const { client } = fakeClient(
      new FakeServer(json(configMap('a')), { status: 200, headers: {}, body: Buffer.from('<html>') }),
    )
    await expect(client.list(ConfigMap)).rejects.toMatchObject({ problem: 'garbled' })
    await expect(client.list(ConfigMap)).rejects.toThrow(
      'is no JSON object but "<html>": is this a Kubernetes API server?',
    )
  })
})

describe('Client.find', () => {
  test('is undefined for a missing object, an error for a missing kind', async () => {
    const { client } = fakeClient(
      new FakeServer(
        refusal(404, 'NotFound'),
        { status: 404, headers: {}, body: Buffer.from('404 page not found\n') },
        refusal(404, 'NotFound', { details: {} }),
      ),
    )
    expect(await client.find(ConfigMap, { namespace: 'ns', name: 'a' })).toBeUndefined()
    await expect(client.find(ConfigMap, { namespace: 'ns', name: 'a' })).rejects.toThrow(
      'the server has no kind ConfigMap (v1)',
    )
    await expect(client.find(ConfigMap, { namespace: 'ns', name: 'a' })).rejects.toThrow(
      'the server has no kind ConfigMap (v1)',
    )
  })
})

describe('answers', () => {
  test('a refusal keeps reason, causes and how long to wait', async () => {
    const { client } = fakeClient(
      new FakeServer(
        refusal(422, 'Invalid', {
          message: 'no',
          details: {
            kind: 'configmaps',
            name: 'a',
            causes: [{ reason: 'FieldValueRequired', field: 'data', message: 'x' }],
            retryAfterSeconds: 2,
          },
        }),
      ),
    )
    await expect(client.get(ConfigMap, { namespace: 'ns', name: 'a' })).rejects.toMatchObject({
      reason: 'Invalid',
      code: 422,
      message: 'no',
      retryAfterMs: 2000,
      causes: [{ field: 'data' }],
    })
  })

  test('Retry-After is kept when the status does not say', async () => {
    const { client } = fakeClient(
      new FakeServer(refusal(429, 'TooManyRequests', { headers: { 'retry-after': '600' } })),
    )
    await expect(client.get(ConfigMap, { namespace: 'ns', name: 'a' })).rejects.toMatchObject({
      reason: 'TooManyRequests',
      retryAfterMs: 600_000,
    })
  })

  test('a page of a proxy is cut short', async () => {
    const { client } = fakeClient(
      new FakeServer({ status: 502, headers: {}, body: Buffer.from(`<html>${'x'.repeat(10_000)}`) }),
    )
    const error = await client
      .get(ConfigMap, { namespace: 'ns', name: 'a' })
      .catch((caught: unknown) => caught as Error)
    expect(error).toMatchObject({ code: 502, reason: 'InternalError' })
    expect((error as Error).message.length).toBeLessThan(1000)
  })

  test('a redirect is not followed', async () => {
    const server = new FakeServer({ status: 302, headers: { location: 'https://elsewhere.example.com' } })
    await expect(fakeClient(server).client.get(ConfigMap, { namespace: 'ns', name: 'a' })).rejects.toMatchObject({
      code: 302,
    })
    expect(server.requests).toHaveLength(1)
  })

  test('too large an answer is not read to its end', async () => {
    let given = 0
    const body = (async function* () {
      for (;;) {
        await Promise.resolve()
        given++
        yield Buffer.alloc(1000)
      }
    })()
    const { client } = fakeClient(new FakeServer({ status: 200, headers: {}, body }), { responseBytesMax: 10_000 })
    await expect(client.get(ConfigMap, { namespace: 'ns', name: 'a' })).rejects.toThrow('more than 10000 bytes')
    expect(given).toBe(11)
  })

  test('no answer in time is told, and leaves no timer', async () => {
    const server = new FakeServer(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error)
          })
        }),
    )
    const { client, clock } = fakeClient(server)
    const asked = expect(client.get(ConfigMap, { namespace: 'ns', name: 'a' }, { timeoutMs: 500 })).rejects.toThrow(
      'no answer to GET /api/v1/namespaces/ns/configmaps/a in time (gave up after 500 ms)',
    )
    await clock.advance(500)
    await asked
    expect(clock.pending).toBe(0)
  })

  test('a signal that has aborted sends nothing; one that aborts ends the call with its reason', async () => {
    const server = new FakeServer(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error)
          })
        }),
    )
    const { client, clock } = fakeClient(server)
    await expect(
      client.get(ConfigMap, { namespace: 'ns', name: 'a' }, { signal: AbortSignal.abort(new Error('before')) }),
    ).rejects.toThrow('before')
    expect(server.requests).toHaveLength(0)
    const stop = new AbortController()
    const asked = expect(
      client.get(ConfigMap, { namespace: 'ns', name: 'a' }, { signal: stop.signal }),
    ).rejects.toThrow('within')
    stop.abort(new Error('within'))
    await asked
    expect(clock.pending).toBe(0)
  })

  test('warnings are reported once per text, whatever their format', async () => {
    const header = '299 - "v1 Thing is old, use v2", 299 - "say \\"a, b\\"", 199 - "cache"'
    const warnings: string[] = []
    const { client } = fakeClient(new FakeServer(json(configMap('a'), { headers: { warning: header } })), {
      onWarning: (text) => {
        warnings.push(text)
      },
    })
    await client.get(ConfigMap, { namespace: 'ns', name: 'a' })
    await client.get(ConfigMap, { namespace: 'ns', name: 'a' })
    expect(warnings).toEqual(['v1 Thing is old, use v2', 'say "a, b"'])
  })
})
