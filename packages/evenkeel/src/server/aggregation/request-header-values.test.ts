import { expect, test } from 'vitest'
import { SystemClock, SystemRandom } from '#base'
import { makeFrontProxyIdentity } from '../auth/front-proxy-identity.ts'
import { joinCertificates, requestHeaderValues } from './request-header-values.ts'

const identity = makeFrontProxyIdentity({ clock: new SystemClock(), random: new SystemRandom() })
const other = makeFrontProxyIdentity({ clock: new SystemClock(), random: new SystemRandom() })
const [mine, theirs] = [identity.authority.certificatePem, other.authority.certificatePem]

test('a server publishes its authority and its name', () => {
  expect(requestHeaderValues({ identity }, '')).toEqual({
    'requestheader-allowed-names': '["front-proxy-client"]',
    'requestheader-client-ca-file': mine,
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  })
})

test('authorities that are published stay, and so do the proxies before this server', () => {
  const others = { caPem: 'no certificate', allowedNames: ['edge'] }
  expect(requestHeaderValues({ identity: other, others }, mine)).toMatchObject({
    'requestheader-allowed-names': '["edge","front-proxy-client"]',
    'requestheader-client-ca-file': mine + theirs,
  })
  expect(requestHeaderValues({ identity: other, others: { caPem: '' } }, mine + theirs)).toMatchObject({
    'requestheader-allowed-names': '[]',
    'requestheader-client-ca-file': mine + theirs,
  })
})

test('the oldest of many authorities go', () => {
  const pems = Array.from(
    { length: 10 },
    (_, index) => `-----BEGIN CERTIFICATE-----\n${index}\n-----END CERTIFICATE-----`,
  )
  expect(joinCertificates(...pems)).toBe(`${pems.slice(2).join('\n')}\n`)
})
