import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { parseTime } from '#api'
import { SimulatedClock } from '#base'
import * as pems from './certificate-chain.fixture.ts'
import { ClientCertificates, isSignedUnder, readAuthorities } from './client-certificates.ts'

const [root, inter, leaf, rogue] = [pems.root, pems.inter, pems.leaf, pems.rogue].map(
  (pem) => new X509Certificate(pem),
) as [X509Certificate, X509Certificate, X509Certificate, X509Certificate]
const at = (time: string): number => parseTime(time) ?? Number.NaN
const nowMs = at('2030-01-01T00:00:00Z')

test('isSignedUnder follows signatures through those between, each of whom may sign and is good', () => {
  expect(isSignedUnder(leaf, { authorities: [root], between: [inter], nowMs })).toBe(true)
  expect(isSignedUnder(leaf, { authorities: [root], between: [inter, root], nowMs })).toBe(true)
  expect(isSignedUnder(leaf, { authorities: [inter], between: [], nowMs })).toBe(true)
  expect(isSignedUnder(leaf, { authorities: [root], between: [], nowMs })).toBe(false)
  expect(isSignedUnder(leaf, { authorities: [root], between: [root], nowMs })).toBe(false)
  expect(isSignedUnder(leaf, { authorities: [root], between: [inter], nowMs: at('2040-01-01T00:00:00Z') })).toBe(false)
  expect(isSignedUnder(rogue, { authorities: [root], between: [leaf, inter], nowMs })).toBe(false)
})

test('readAuthorities reads all certificates of each text', () => {
  expect(readAuthorities([`${pems.root}${pems.inter}`, pems.leaf]).map(({ subject }) => subject)).toEqual([
    'CN=test-root',
    'CN=test-inter',
    'CN=test-leaf',
  ])
  expect(() => readAuthorities([''])).toThrow(RangeError)
})

test('ClientCertificates knows a certificate again when its session is resumed without those between', () => {
  const clock = new SimulatedClock({ startMs: nowMs })
  const certificates = new ClientCertificates([pems.root], clock)
  const peer = { address: '', encrypted: true, certificate: leaf.raw }
  expect(certificates.check({ ...peer, issuers: [] })).toBeUndefined()
  expect(certificates.check({ ...peer, issuers: [inter.raw] })?.commonName).toBe('test-leaf')
  expect(certificates.check({ ...peer, issuers: [] })?.commonName).toBe('test-leaf')
  expect(new ClientCertificates([pems.root], clock).check({ ...peer, issuers: [] })).toBeUndefined()
  expect(certificates.check(undefined)).toBeUndefined()
  expect(certificates.check({ address: '', encrypted: true, certificateRefused: true })).toBeUndefined()
})
