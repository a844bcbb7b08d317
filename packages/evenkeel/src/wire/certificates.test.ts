import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:tls'
import { assert, describe, expect, test } from 'vitest'
import { SeededRandom, SimulatedClock, SystemClock, SystemRandom } from '#base'
import { issueClientCertificate, issueServerCertificate, makeAuthority, makeRsaKeyPair } from './certificates.ts'

const names = [
  'localhost',
  'kubernetes.default.svc',
  '*.example.com',
  '127.0.0.1',
  '::1',
  'fe80::1:2',
  '::ffff:10.0.0.1',
]
const options = () => ({ clock: new SimulatedClock(), random: new SeededRandom('certificates') })

describe('makeAuthority', () => {
  test('signs itself and may sign others, but no authorities', () => {
    const authority = new X509Certificate(makeAuthority(options()).certificatePem)
    assert(authority.ca)
    assert(authority.verify(authority.publicKey))
    assert(authority.checkIssued(authority))
    expect(authority.subject).toBe(authority.issuer)
    expect(authority.subject).toMatch(/^CN=evenkeel-ca-[0-9a-f]{8}$/)
  })

  test('is valid from an hour before the clock, for ten years', () => {
    const authority = new X509Certificate(makeAuthority(options()).certificatePem)
    expect(authority.validFrom).toBe('Dec 31 23:00:00 2025 GMT')
    expect(authority.validTo).toBe('Dec 30 00:00:00 2035 GMT')
  })

  test('writes years from 2050 on in four digits', () => {
    const clock = new SimulatedClock({ startMs: 2_524_604_400_000 })
    const authority = new X509Certificate(makeAuthority({ clock, random: new SeededRandom(1) }).certificatePem)
    expect(authority.validFrom).toBe('Dec 31 22:00:00 2049 GMT')
    expect(authority.validTo).toMatch(/2059 GMT$/)
  })

  test('takes serial number and name from the given random source, and both are never the same twice', () => {
    const one = options()
    const [a, b] = [makeAuthority(one), makeAuthority(one)].map(
      ({ certificatePem }) => new X509Certificate(certificatePem),
    )
    const again = new X509Certificate(makeAuthority(options()).certificatePem)
    expect(again.serialNumber).toBe(a?.serialNumber)
    expect(again.subject).toBe(a?.subject)
    expect(b?.serialNumber).not.toBe(a?.serialNumber)
    expect(a?.serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/)
  })
})

describe('issueServerCertificate', () => {
  test('is valid for each of its names and for no other', () => {
    const authority = makeAuthority(options())
    const server = new X509Certificate(issueServerCertificate(authority, { ...options(), names }).certificatePem)
    for (const host of ['localhost', 'kubernetes.default.svc', 'a.example.com'])
      expect(server.checkHost(host), host).toBeDefined()
    for (const ip of ['127.0.0.1', '::1', 'fe80::1:2', '::ffff:10.0.0.1']) expect(server.checkIP(ip), ip).toBeDefined()
    for (const host of ['evil.com', 'example.com', 'kubernetes.default', 'evenkeel'])
      expect(server.checkHost(host, { subject: 'never' }), host).toBeUndefined()
    expect(server.checkIP('127.0.0.2')).toBeUndefined()
  })

  test('is signed by its authority, by no other, and is none itself', () => {
    const random = new SeededRandom('two')
    const authority = makeAuthority({ ...options(), random })
    const other = new X509Certificate(makeAuthority({ ...options(), random }).certificatePem)
    const server = new X509Certificate(issueServerCertificate(authority, { ...options(), names }).certificatePem)
    const issuer = new X509Certificate(authority.certificatePem)
    assert(server.checkIssued(issuer))
    assert(server.verify(issuer.publicKey))
    assert.isFalse(server.checkIssued(other))
    assert.isFalse(server.verify(other.publicKey))
    assert.isFalse(server.ca)
    expect(server.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
  })

  test('refuses a name that is neither a DNS name nor an IP address', () => {
    const authority = makeAuthority(options())
    for (const name of ['', 'a b', 'a..b', '-a', 'é.com', 'fe80::1%eth0', 'a:1', `${'a'.repeat(64)}.com`, 'x\0.com']) {
      expect(() => issueServerCertificate(authority, { ...options(), names: [name] }), name).toThrow(RangeError)
    }
    expect(() => issueServerCertificate(authority, { ...options(), names: [] })).toThrow('at least one name')
    expect(() => issueServerCertificate(authority, { ...options(), names, validMs: 0 })).toThrow(
      'validMs must be above 0',
    )
  })

  test('needs an authority of makeAuthority', () => {
    const authority = makeAuthority(options())
    const client = issueClientCertificate(authority, {
      ...options(),
      subject: { commonName: 'a', organizations: ['b'] },
    })
    expect(() => issueServerCertificate(client, { ...options(), names })).toThrow(
      'only an authority of makeAuthority can issue certificates',
    )
  })
})

test('issueClientCertificate names a user and groups, any text', () => {
  const authority = makeAuthority(options())
  const subject = { commonName: 'system:admin', organizations: ['system:masters', 'größe'] }
  const client = new X509Certificate(issueClientCertificate(authority, { ...options(), subject }).certificatePem)
  expect(client.toLegacyObject().subject).toEqual({ CN: 'system:admin', O: ['system:masters', 'größe'] })
  expect(client.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
  assert(client.verify(new X509Certificate(authority.certificatePem).publicKey))
})

test.each(['EC', 'RSA'])(
  'a TLS handshake succeeds both ways with certificates of one authority: %s client',
  async (type) => {
    const real = { clock: new SystemClock(), random: new SystemRandom() }
    const authority = makeAuthority(real)
    const server = issueServerCertificate(authority, { ...real, names: ['localhost', '127.0.0.1'] })
    const keys = type === 'RSA' ? { keys: await makeRsaKeyPair() } : {}
    const client = issueClientCertificate(authority, { ...real, ...keys, subject: { commonName: 'me' } })
    expect(createPrivateKey(client.keyPem).asymmetricKeyType).toBe(type.toLowerCase())
    const ca = authority.certificatePem
    const listening = createServer(
      { cert: server.certificatePem, key: server.keyPem, ca, requestCert: true, rejectUnauthorized: true },
      (socket) => {
        socket.end(socket.getPeerX509Certificate()?.subject ?? 'no certificate')
      },
    )
    listening.listen(0, '127.0.0.1')
    await once(listening, 'listening')
    const socket = connect({
      host: '127.0.0.1',
      port: (listening.address() as AddressInfo).port,
      ca,
      cert: client.certificatePem,
      key: client.keyPem,
    })
    const [said] = (await once(socket, 'data')) as [Buffer]
    expect(socket.authorized).toBe(true)
    expect(said.toString()).toBe('CN=me')
    socket.destroy()
    listening.close()
    await once(listening, 'close')
  },
)
