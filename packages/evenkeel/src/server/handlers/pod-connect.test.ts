import { expect, test } from 'vitest'
import { TestServer } from '../client.fixture.ts'
import type { StreamHandler } from '../extensions/streams.ts'
import type { ServerOptions } from '../server-options.ts'

const podKind = { group: '', kind: 'Pod' }

const pods = '/api/v1/namespaces/default/pods'

async function startWithPod(nodeName?: string, options: ServerOptions = {}): Promise<TestServer> {
  const server = await TestServer.start(options)
  const spec = { containers: [{ name: 'c', image: 'x' }], ...(nodeName !== undefined && { nodeName }) }
  await server.ask('POST', pods, { body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec } })
  return server
}

test.each(['exec', 'attach', 'portforward', 'proxy', 'log'])(
  '%s of a pod with a node is refused with the reason',
  async (part) => {
    const server = await startWithPod('n')
    const answer = await server.ask('GET', `${pods}/p/${part}`)
    expect(answer.json).toMatchObject({
      code: 405,
      message: `pods/${part} of "p" is not available: it needs a node, and this server runs no containers`,
    })
    await server.server.stop()
  },
)

test('a stream that is asked for by GET needs the right to create it', async () => {
  const server = await startWithPod()
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const rules = [{ apiGroups: [''], resources: ['pods/exec', 'pods/log'], verbs: ['get'] }]
  await server.ask('POST', `${rbac}/clusterroles`, { body: { metadata: { name: 'r' }, rules } })
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'ada' }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' }
  await server.ask('POST', `${rbac}/clusterrolebindings`, { body: { metadata: { name: 'b' }, subjects, roleRef } })
  const headers = { 'impersonate-user': 'ada' }
  expect((await server.ask('GET', `${pods}/p/exec`, { headers })).json).toMatchObject({
    code: 403,
    message:
      'pods "p" is forbidden: User "ada" cannot create resource "pods/exec" in API group "" in the namespace "default"',
  })
  expect((await server.ask('GET', `${pods}/p/log`, { headers })).status).toBe(204)
  await server.server.stop()
})

test.each([undefined, 'n'])('the program answers for the log of a pod with the node %s', async (nodeName) => {
  const log: StreamHandler = ({ object, query }) => ({
    headers: { 'content-type': 'text/plain' },
    body: `${object.kind} ${object.metadata.name} ${query.get('tailLines')}\n`,
  })
  const server = await startWithPod(nodeName, { customResources: [{ kind: podKind, streams: { log } }] })
  const answer = await server.ask('GET', `${pods}/p/log?tailLines=3`)
  expect([answer.status, answer.text]).toEqual([200, 'Pod p 3\n'])
  expect((await server.ask('GET', `${pods}/p/log?container=other`)).json).toMatchObject({
    code: 400,
    message: 'container other is not valid for pod p',
  })
  expect((await server.ask('GET', `${pods}/q/log`)).status).toBe(404)
  await server.server.stop()
})

test.each([
  [{ kind: podKind, streams: { top: () => ({ body: '' }) } }],
  [{ kind: podKind, connects: { log: () => Promise.resolve({ exitCode: 0 }) } }],
  [{ kind: { group: '', kind: 'Secret' }, streams: { log: () => ({ body: '' }) } }],
])('a built-in kind has nothing but the log of Pod: %j', async (options) => {
  await expect(TestServer.start({ customResources: [options] })).rejects.toThrow(
    'of the built-in kinds only Pod can have something, the stream log',
  )
})
