import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { TestServer } from '../client.fixture.ts'
import { until } from '../listen/turns.fixture.ts'
import { BackendServer, condition, register, startProxy, strangersCaBundle } from './backend.fixture.ts'

describe('the condition Available', () => {
  let backend: BackendServer
  let server: TestServer
  beforeEach(async () => {
    backend = await BackendServer.start()
    server = await startProxy(backend)
  })
  afterEach(async () => {
    await server.server.stop()
    await backend.close()
  })

  test('follows the server: it answers, it is gone, it is back', async () => {
    await register(server)
    expect(await condition(server, 'Passed')).toMatchObject({ status: 'True', message: 'all checks passed' })
    await backend.close()
    await server.clock.advance(10_000)
    const failed = await condition(server, 'FailedDiscoveryCheck')
    expect(failed.status).toBe('False')
    expect(failed.message).toMatch(
      /^failing or missing response from https:\/\/127\.0\.0\.1:\d+\/apis\/example\.com\/v1: Get "/,
    )
    await backend.listen()
    await server.clock.advance(5000)
    expect(await condition(server, 'Passed')).toMatchObject({ status: 'True' })
  })

  test('a server that does not answer is unavailable after five seconds', async () => {
    backend.isAnswering = false
    await register(server)
    const reached = (): Promise<unknown> => new Promise((resolve) => backend.server.once('request', resolve))
    for (let attempt = 0; attempt < 2; attempt++) {
      await reached()
      await server.clock.advance(5000)
    }
    const { message } = await condition(server, 'FailedDiscoveryCheck')
    expect(message).toMatch(/context deadline exceeded$/)
  })

  test('a certificate of another authority is refused', async () => {
    await register(server, { caBundle: strangersCaBundle })
    const { message } = await condition(server, 'FailedDiscoveryCheck')
    expect(message).toMatch(/tls: failed to verify certificate: x509: certificate signed by unknown authority$/)
  })

  test('insecureSkipTLSVerify accepts any certificate', async () => {
    await register(server, { insecureSkipTLSVerify: true })
    expect(await condition(server, 'Passed')).toMatchObject({ status: 'True' })
    expect(new Set(backend.clients)).toEqual(new Set(['front-proxy-client']))
  })

  test('without APIServices of other servers there is no timer', async () => {
    const timers = server.clock.pending
    await register(server)
    await condition(server, 'Passed')
    await server.ask('DELETE', '/apis/apiregistration.k8s.io/v1/apiservices/v1.example.com')
    await until(() => server.clock.pending <= timers)
  })

  test('discovery has the resources of the server, also from separate documents', async () => {
    await register(server)
    await condition(server, 'Passed')
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    const { json } = await server.ask('GET', '/apis', { headers: { accept } })
    const groups = json['items'] as unknown as { metadata: { name: string }; versions: unknown }[]
    expect(groups.at(-1)).toEqual({
      metadata: { name: 'example.com' },
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: [
            {
              resource: 'foos',
              responseKind: { group: 'example.com', version: 'v1', kind: 'Foo' },
              scope: 'Namespaced',
              singularResource: 'foo',
              verbs: ['get'],
              shortNames: ['f'],
              subresources: [
                {
                  subresource: 'status',
                  responseKind: { group: 'example.com', version: 'v1', kind: 'Foo' },
                  verbs: ['get', 'patch'],
                },
              ],
            },
          ],
        },
      ],
    })
  })
})
