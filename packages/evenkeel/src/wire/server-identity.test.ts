import { X509Certificate } from 'node:crypto'
import type { PeerCertificate } from 'node:tls'
import { expect, test } from 'vitest'
import { checkAddressIdentity, SeededRandom, SimulatedClock } from '#base'
import { issueServerCertificate, makeAuthority } from './certificates.ts'

const options = { clock: new SimulatedClock(), random: new SeededRandom('certificates') }

/** As a socket shows it. */
function shown(names: readonly string[]): PeerCertificate {
  const { raw, subjectAltName = '' } = new X509Certificate(
    issueServerCertificate(makeAuthority(options), { ...options, names }).certificatePem,
  )
  return { raw, subjectaltname: subjectAltName, subject: { CN: 'evenkeel' } } as unknown as PeerCertificate
}

test.each([
  ['::1', ['::1']],
  ['0:0:0:0:0:0:0:1', ['localhost', '::1']],
  ['fd00::7', ['127.0.0.1', 'fd00::7']],
])('%s is whom a certificate for %j is for', (host, names) => {
  expect(checkAddressIdentity(host, shown(names))).toBe(undefined)
})

test.each([
  ['::1', ['::2']],
  ['::1', ['localhost', '127.0.0.1']],
])('%s is not whom a certificate for %j is for', (host, names) => {
  expect(checkAddressIdentity(host, shown(names))).toMatchObject({
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    host,
    message: expect.stringContaining("does not match certificate's altnames") as string,
  })
})
