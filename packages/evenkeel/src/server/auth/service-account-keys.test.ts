import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { isSignedBy, parseJwt } from './jwt.ts'
import { makeServiceAccountKey, parsePemKeys, ServiceAccountKeys } from './service-account-keys.ts'

const sign = (keys: ServiceAccountKeys) => parseJwt(keys.sign({ sub: 'x' }))

test('AccountKeys signs with the first key and believes all, so that keys can be rotated', () => {
  const [old, fresh] = [makeServiceAccountKey(), makeServiceAccountKey()]
  const before = sign(new ServiceAccountKeys([old]))
  const rotated = new ServiceAccountKeys([`${fresh}${old}`])
  const after = sign(rotated)
  expect(before?.keyId).not.toBe(after?.keyId)
  for (const jwt of [before, after])
    expect(rotated.find(jwt?.keyId ?? '').some((key) => jwt && isSignedBy(jwt, key))).toBe(true)
  expect(new ServiceAccountKeys([fresh]).find(before?.keyId ?? '')).toEqual([])
  expect(rotated.find('')).toHaveLength(2)
})

test('AccountKeys makes one key when none is given, and takes RSA and public keys too', () => {
  const made = new ServiceAccountKeys([])
  expect(sign(made)?.keyId).toBe(sign(made)?.keyId)
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs1', format: 'pem' })
    .toString()
  const other = createPublicKey(makeServiceAccountKey()).export({ type: 'spki', format: 'pem' }).toString()
  const keys = new ServiceAccountKeys([rsa, other, rsa])
  expect(sign(keys)?.algorithm).toBe('RS256')
  expect(keys.published.algorithms).toEqual(['ES256', 'RS256'])
  expect(keys.published.keys).toHaveLength(2)
})

test('AccountKeys refuses what cannot sign', () => {
  const open = createPublicKey(makeServiceAccountKey()).export({ type: 'spki', format: 'pem' }).toString()
  expect(() => new ServiceAccountKeys([open])).toThrow('the first key of service accounts must be a private one')
  expect(() => new ServiceAccountKeys(['nothing'])).toThrow('in PEM')
  expect(
    () =>
      new ServiceAccountKeys([
        generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      ]),
  ).toThrow(RangeError)
  expect(() => parsePemKeys('-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----')).toThrow()
})
