import { expect, test } from 'vitest'
import type { WireRequest, WireResponse } from '#wire'
import { configMap, fakeClient, FakeServer, json, refusal } from './fake.fixture.ts'

const widget = { apiVersion: 'demo.example.com/v1', kind: 'Widget' }
const path = 'GET /apis/demo.example.com/v1/namespaces/ns/widgets/a'

function aggregated(hasWidget: boolean): (request: WireRequest) => WireResponse {
  return ({ target }) => {
    const items =
      target === '/apis' && hasWidget
        ? [
            {
              metadata: { name: 'demo.example.com' },
              versions: [
                {
                  version: 'v1',
                  resources: [
                    {
                      resource: 'widgets',
                      responseKind: { kind: 'Widget' },
                      scope: 'Namespaced',
                      singularResource: 'widget',
                      verbs: ['get'],
                      subresources: [{ subresource: 'status' }],
                    },
                  ],
                },
              ],
            },
          ]
        : []
    return json({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', items })
  }
}

test('Mapper finds a kind in aggregated discovery, once for all who ask', async () => {
  const find = aggregated(true)
  const server = new FakeServer((request) =>
    request.target.startsWith('/apis/') ? json(configMap('a')) : find(request),
  )
  const { client } = fakeClient(server)
  await Promise.all([1, 2, 3].map(() => client.get(widget, { namespace: 'ns', name: 'a' })))
  expect(server.lines).toEqual(['GET /api', 'GET /apis', path, path, path])
  expect(server.requests[0]?.headers['accept']).toContain('as=APIGroupDiscoveryList')
  expect(await client.resources()).toMatchObject([
    { kind: 'Widget', plural: 'widgets', namespaced: true, subresources: ['status'] },
  ])
})

test('Mapper falls back to the old documents, and one group that is down hides no other', async () => {
  const documents: Record<string, WireResponse> = {
    '/api': json({ kind: 'APIVersions', versions: ['v1'] }),
    '/apis': json({
      kind: 'APIGroupList',
      groups: [
        { versions: [{ groupVersion: 'demo.example.com/v1' }] },
        { versions: [{ groupVersion: 'down.example.com/v1' }] },
      ],
    }),
    '/api/v1': json({ kind: 'APIResourceList', resources: [{ name: 'pods', kind: 'Pod', namespaced: true }] }),
    '/apis/demo.example.com/v1': json({
      kind: 'APIResourceList',
      resources: [{ name: 'widgets', kind: 'Widget', namespaced: true }, { name: 'widgets/status', kind: 'Widget' }, 7],
    }),
    '/apis/down.example.com/v1': refusal(503, 'ServiceUnavailable'),
  }
  const { client } = fakeClient(new FakeServer(({ target }) => documents[target] ?? refusal(404, 'NotFound')))
  expect((await client.resources()).map(({ plural, subresources }) => [plural, subresources])).toEqual([
    ['pods', []],
    ['widgets', ['status']],
  ])
  expect(await client.resourceOf(widget)).toMatchObject({ plural: 'widgets', group: 'demo.example.com', version: 'v1' })
})

test('Mapper asks again for a kind that was missing, but not more often than allowed', async () => {
  let hasWidget = false
  const server = new FakeServer((request) => aggregated(hasWidget)(request))
  const { client, clock } = fakeClient(server, { discoveryReloadMs: 5000 })
  const unknown = 'the server has no kind Widget (demo.example.com/v1)'
  await expect(client.resourceOf(widget)).rejects.toThrow(unknown)
  hasWidget = true
  await expect(client.resourceOf(widget)).rejects.toThrow(unknown)
  expect(server.requests).toHaveLength(2)
  await clock.advance(5000)
  expect(await client.resourceOf(widget)).toMatchObject({ plural: 'widgets' })
  await client.resourceOf(widget)
  expect(server.requests).toHaveLength(4)
})

test('Mapper: a kind that came after the last question is found at once', async () => {
  let hasWidget = false
  const { client } = fakeClient(new FakeServer((request) => aggregated(hasWidget)(request)))
  await client.resources()
  hasWidget = true
  expect(await client.resourceOf(widget)).toMatchObject({ plural: 'widgets' })
})

test('Mapper: one who leaves does not end the question for the others', async () => {
  const stop = new AbortController()
  const find = aggregated(true)
  const { client } = fakeClient(
    new FakeServer(async (request) => {
      await Promise.resolve()
      return find(request)
    }),
  )
  const [left, stayed] = [client.resourceOf(widget, { signal: stop.signal }), client.resourceOf(widget)]
  stop.abort(new Error('bye'))
  await expect(left).rejects.toThrow('bye')
  expect(await stayed).toMatchObject({ plural: 'widgets' })
})

test('Mapper: discovery that fails is not remembered as an answer', async () => {
  const find = aggregated(true)
  const server = new FakeServer(refusal(500, 'InternalError'), refusal(500, 'InternalError'), find)
  const { client } = fakeClient(server)
  await expect(client.resourceOf(widget)).rejects.toMatchObject({ reason: 'InternalError' })
  expect(await client.resourceOf(widget)).toMatchObject({ plural: 'widgets' })
})

test('an object whose fields look like those of a kind is an object all the same', async () => {
  const find = aggregated(true)
  const server = new FakeServer((request) =>
    request.target.startsWith('/apis/') ? json(configMap('a')) : find(request),
  )
  const { client } = fakeClient(server)
  await client.update({ ...configMap('a'), ...widget, plural: 'x', scope: 'Cluster', metadataOnly: true, of: 'y' })
  expect(server.lines.at(-1)).toBe('PUT /apis/demo.example.com/v1/namespaces/ns/widgets/a')
})
