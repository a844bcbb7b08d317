import { expect, test } from 'vitest'
import { ApiError } from '#api'
import { TestServer } from '../client.fixture.ts'
import type { Route, RouteRequest } from './routes.ts'

async function startWith(...routes: readonly Route[]): Promise<TestServer> {
  return TestServer.start({ routes })
}

test('a route gets method, query, body and user, and answers with status, headers and a body', async () => {
  const seen: unknown[] = []
  const handler = async ({ method, path, query, headers, user, body }: RouteRequest) => {
    const text = Buffer.from(await body()).toString()
    seen.push([method, path, query.get('a'), headers['x-b'], user.name, text])
    return { status: 202, headers: { 'content-type': 'application/json' }, body: '{"ok":true}' }
  }
  const server = await startWith({ path: '/admin/state', handlers: { PATCH: handler } })
  const asked = { body: { status: 'off' }, headers: { 'x-b': 'c' } }
  const answer = await server.ask('PATCH', '/admin/state?a=1', asked)
  expect([answer.status, answer.headers['content-type'], answer.json]).toEqual([202, 'application/json', { ok: true }])
  expect(seen).toEqual([['PATCH', '/admin/state', '1', 'c', expect.any(String), '{"status":"off"}']])
  await server.server.stop()
})

test('other methods are 405 with those that exist, other paths 404, and HEAD is a GET without its body', async () => {
  const server = await startWith({ path: '/admin/state', handlers: { GET: () => ({ body: 'on' }), PUT: () => ({}) } })
  const refused = await server.ask('DELETE', '/admin/state')
  expect([refused.status, refused.headers['allow']]).toEqual([405, 'GET, PUT'])
  expect((await server.ask('GET', '/admin/state/more')).status).toBe(404)
  const head = await server.ask('HEAD', '/admin/state')
  expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '2'])
  await server.server.stop()
})

test('a path with a star is a prefix; the longest match answers; the list of paths has all', async () => {
  const answer = (body: string): Route['handlers'] => ({ GET: () => ({ body }) })
  const server = await startWith(
    { path: '/hooks/*', handlers: answer('any') },
    { path: '/hooks/deep/*', handlers: answer('deep') },
    { path: '/hooks/deep/one', handlers: answer('one') },
  )
  const texts = await Promise.all(
    ['/hooks/x', '/hooks/deep/x', '/hooks/deep/one'].map(async (path) => (await server.ask('GET', path)).text),
  )
  expect(texts).toEqual(['any', 'deep', 'one'])
  expect((await server.ask('GET', '/')).json['paths']).toEqual(expect.arrayContaining(['/hooks/*', '/hooks/deep/one']))
  await server.server.stop()
})

test('a route is authorized as a non-resource URL', async () => {
  const server = await startWith({ path: '/admin/state', handlers: { GET: () => ({ body: 'on' }), PUT: () => ({}) } })
  const headers = { 'impersonate-user': 'ada' }
  expect((await server.ask('GET', '/admin/state', { headers })).json).toMatchObject({
    code: 403,
    message: 'forbidden: User "ada" cannot get path "/admin/state"',
  })
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const rules = [{ nonResourceURLs: ['/admin/*'], verbs: ['get'] }]
  await server.ask('POST', `${rbac}/clusterroles`, { body: { metadata: { name: 'r' }, rules } })
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'ada' }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' }
  await server.ask('POST', `${rbac}/clusterrolebindings`, { body: { metadata: { name: 'b' }, subjects, roleRef } })
  expect((await server.ask('GET', '/admin/state', { headers })).text).toBe('on')
  expect((await server.ask('PUT', '/admin/state', { headers })).status).toBe(403)
  await server.server.stop()
})

test('a body above the wanted size is 413, an ApiError of the handler its Status', async () => {
  const server = await startWith({
    path: '/admin/state',
    handlers: {
      PUT: async ({ body }) => ({ body: await body(8) }),
      GET: () => {
        throw new ApiError('Conflict', 'not now')
      },
    },
  })
  expect((await server.ask('PUT', '/admin/state', { body: '12345678' })).text).toBe('12345678')
  expect((await server.ask('PUT', '/admin/state', { body: '123456789' })).status).toBe(413)
  expect((await server.ask('GET', '/admin/state')).json).toMatchObject({ code: 409, message: 'not now' })
  await server.server.stop()
})

test('a route can stream; the stream ends when the server stops', async () => {
  const server = await startWith({
    path: '/events',
    handlers: {
      GET: ({ signal }) => ({
        body: (async function* () {
          yield Buffer.from('first')
          await new Promise<void>((resolve) => {
            signal.addEventListener('abort', () => {
              resolve()
            })
          })
        })(),
      }),
    },
  })
  const { body } = await server.send('GET', '/events')
  const pieces = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  expect(Buffer.from((await pieces.next()).value as Uint8Array).toString()).toBe('first')
  const end = pieces.next()
  const stopped = server.server.stop()
  expect(await end).toEqual({ done: true, value: undefined })
  await stopped
})

test.each([['/api/x'], ['/apis'], ['/healthz'], ['/metrics'], ['admin'], ['/a*b'], ['/a?b'], ['/']])(
  '%s cannot be a route',
  async (path) => {
    await expect(startWith({ path, handlers: {} })).rejects.toThrow(`${JSON.stringify(path)} cannot be a route`)
  },
)

test('a path that is there twice is refused', async () => {
  const route = { path: '/a', handlers: {} }
  await expect(startWith(route, route)).rejects.toThrow('routes has "/a" twice')
})
