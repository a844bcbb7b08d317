import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { selfSigned } from './self-signed.ts'

test('selfSigned: is its own CA, valid for 127.0.0.1, with a new key each time', () => {
  const { certificatePem, keyPem } = selfSigned()
  const certificate = new X509Certificate(certificatePem)
  expect([
    certificate.verify(certificate.publicKey),
    certificate.ca,
    certificate.checkIP('127.0.0.1'),
    certificate.checkIP('127.0.0.2'),
  ]).toEqual([true, true, '127.0.0.1', undefined])
  expect(selfSigned().keyPem).not.toBe(keyPem)
})
