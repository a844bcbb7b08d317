/** What the conformance suite cannot see: how long a pod waits for the account of a new namespace. */
import { expect, test } from 'vitest'
import { TestServer } from '../../client.fixture.ts'

const pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const pods = '/api/v1/namespaces/default/pods'

const start = (): Promise<TestServer> => TestServer.start({ admission: { enablePlugins: ['ServiceAccount'] } })

test('a pod waits for the default account of its namespace, and no longer than that', async () => {
  const it = await start()
  const waiting = it.ask('POST', pods, { body: pod })
  await it.clock.advance(1000)
  await it.ask('POST', '/api/v1/namespaces/default/serviceaccounts', { body: { metadata: { name: 'default' } } })
  const { status, json } = await waiting
  expect([status, json['spec']?.['serviceAccountName']]).toEqual([201, 'default'])
  expect(it.clock.monotonic()).toBeLessThan(1500)
  await it.server.stop()
})

test('a pod whose account never comes is refused', async () => {
  const it = await start()
  const refused = it.ask('POST', pods, { body: pod })
  await it.clock.advance(1499)
  await it.clock.advance(1)
  expect(await refused).toMatchObject({
    status: 403,
    json: {
      message:
        'pods "a" is forbidden: error looking up service account default/default: serviceaccount "default" not found',
    },
  })
  await it.server.stop()
})
