import { X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { SeededRandom, SimulatedClock } from '#base'
import { makeAuthority } from '#wire'
import { SelfSignedCertificates, type ServerCertificate } from './certificates.ts'

const dayMs = 86_400_000

function make(options: { authorityDays?: number; validDays?: number } = {}): {
  clock: SimulatedClock
  own: SelfSignedCertificates
  bundles: string[]
} {
  const { authorityDays = 3650, validDays = 90 } = options
  const clock = new SimulatedClock()
  const random = new SeededRandom('own')
  const bundles: string[] = []
  const authority = makeAuthority({ clock, random, validMs: authorityDays * dayMs })
  return {
    clock,
    bundles,
    own: new SelfSignedCertificates({
      names: ['hooks.shop.svc', '127.0.0.1'],
      authority,
      validMs: validDays * dayMs,
      clock,
      random,
      onBundle: (bundle) => {
        bundles.push(bundle)
      },
    }),
  }
}

/** Whether somebody who trusts the bundle trusts the certificate. */
function isTrusted(caBundle: string, { certificatePem }: ServerCertificate): boolean {
  const pem = Buffer.from(caBundle, 'base64').toString()
  const authorities = pem.split(/(?<=-----END CERTIFICATE-----\n)/).map((one) => new X509Certificate(one))
  return authorities.some((authority) => new X509Certificate(certificatePem).verify(authority.publicKey))
}

const countOf = (caBundle: string): number =>
  Buffer.from(caBundle, 'base64').toString().split('BEGIN CERTIFICATE').length - 1

describe('OwnCertificates', () => {
  test('issues a certificate for its names that the bundle vouches for', async () => {
    const { own, bundles } = make()
    const current = await own.current()
    const certificate = new X509Certificate(current.certificatePem)
    expect([certificate.checkHost('hooks.shop.svc'), certificate.checkIP('127.0.0.1')]).toEqual([
      'hooks.shop.svc',
      '127.0.0.1',
    ])
    expect([isTrusted(own.caBundle, current), countOf(own.caBundle), bundles.length]).toEqual([true, 1, 0])
    expect(Buffer.from(own.caPem).toString('base64')).toBe(own.caBundle)
  })

  test('renews when a third of the time is left', async () => {
    const { clock, own } = make()
    const first = await own.current()
    const stopping = new AbortController()
    const renewed: ServerCertificate[] = []
    const watch = own.watch(stopping.signal, (next) => {
      renewed.push(next)
    })
    await clock.advance(60 * dayMs - 1)
    expect(renewed).toEqual([])
    await clock.advance(1)
    expect(renewed).toHaveLength(1)
    expect(renewed[0]?.certificatePem).not.toBe(first.certificatePem)
    expect(isTrusted(own.caBundle, renewed[0] ?? first)).toBe(true)
    stopping.abort()
    await watch
    expect(clock.pending).toBe(0)
  })

  test('tells of a new authority a whole certificate before it signs, and forgets the old one a whole certificate later', async () => {
    const { clock, own, bundles } = make({ authorityDays: 300, validDays: 90 })
    const stopping = new AbortController()
    const seen: { certificate: ServerCertificate; bundle: string; before: string }[] = []
    let before = own.caBundle
    seen.push({ certificate: await own.current(), bundle: own.caBundle, before })
    void own.watch(stopping.signal, (certificate) => {
      seen.push({ certificate, bundle: own.caBundle, before })
      before = own.caBundle
    })
    await clock.advance(600 * dayMs)
    stopping.abort()
    expect(bundles.length).toBeGreaterThan(1)
    expect(seen.length).toBe(11)
    for (const { certificate, bundle, before: known } of seen) {
      // Also by callers who were told only of the last bundle but one.
      expect([isTrusted(bundle, certificate), isTrusted(known, certificate)]).toEqual([true, true])
    }
    expect(seen.some(({ bundle }) => countOf(bundle) === 2)).toBe(true)
    expect(countOf(own.caBundle)).toBe(1)
    for (const { certificate } of seen) expect(new X509Certificate(certificate.certificatePem).validTo).not.toBe('')
  })

  test('needs a name and a time', () => {
    expect(() => new SelfSignedCertificates({ names: [] })).toThrow(RangeError)
    expect(() => new SelfSignedCertificates({ names: ['a'], validMs: 0 })).toThrow(RangeError)
  })
})
