import { expect, test } from 'vitest'
import { SystemClock, SystemRandom } from '#base'
import { makeFrontProxyIdentity } from '../auth/front-proxy-identity.ts'
import { TestServer } from '../client.fixture.ts'
import { publishRequestHeaderValues } from './request-header-values.ts'

const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
const identity = makeFrontProxyIdentity({ clock: new SystemClock(), random: new SystemRandom() })
const other = makeFrontProxyIdentity({ clock: new SystemClock(), random: new SystemRandom() })

test('a server adds its authority to those that are published, and leaves other values alone', async () => {
  const server = await TestServer.start()
  const { transport } = server.server
  await publishRequestHeaderValues(transport, { identity })
  expect((await server.ask('GET', path)).json['data']).toEqual({
    'requestheader-allowed-names': '["front-proxy-client"]',
    'requestheader-client-ca-file': identity.authority.certificatePem,
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  })
  const body = { data: { 'client-ca-file': 'users' } }
  await server.ask('PATCH', path, { type: 'application/merge-patch+json', body })
  const others = { caPem: 'no certificate', allowedNames: ['edge'] }
  await publishRequestHeaderValues(transport, { identity: other, others })
  const { json } = await server.ask('GET', path)
  expect(json['data']).toMatchObject({
    'client-ca-file': 'users',
    'requestheader-allowed-names': '["edge","front-proxy-client"]',
    'requestheader-client-ca-file': identity.authority.certificatePem + other.authority.certificatePem,
  })
  await publishRequestHeaderValues(transport, { identity: other, others })
  const again = await server.ask('GET', path)
  expect(again.json['metadata']).toEqual(json['metadata'])
  await server.server.stop()
})
