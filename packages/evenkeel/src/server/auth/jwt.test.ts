import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  algorithmNames,
  algorithmOf,
  isSignature,
  isSignedBy,
  parseJwt,
  publicKeyOf,
  readKeySet,
  signJwt,
  toJwk,
} from './jwt.ts'

const curves = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' } as const
const pairs = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: curves.ES256 }),
  ES384: generateKeyPairSync('ec', { namedCurve: curves.ES384 }),
  ES512: generateKeyPairSync('ec', { namedCurve: curves.ES512 }),
} as const

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('signJwt and isSignedBy', () => {
  for (const [name, { privateKey, publicKey }] of Object.entries(pairs)) {
    test(`agree on ${name}, and nobody else's key fits`, () => {
      expect(algorithmOf(publicKey)).toBe(name)
      const { id } = publicKeyOf(privateKey)
      const jwt = parseJwt(signJwt({ sub: 'me' }, { key: privateKey, id }))
      expect(jwt).toMatchObject({ algorithm: name, keyId: id, claims: { sub: 'me' } })
      for (const [other, { publicKey: key }] of Object.entries(pairs))
        expect(jwt && isSignedBy(jwt, publicKeyOf(key)), other).toBe(other === name)
    })
  }

  test('a changed letter anywhere breaks it', () => {
    const { privateKey, publicKey } = pairs.ES256
    const token = signJwt({ sub: 'me', aud: ['a'] }, { key: privateKey, id: 'x' })
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom(...'ABab01-_.'), (at, letter) => {
        const changed = token.slice(0, at) + letter + token.slice(at + 1)
        const jwt = parseJwt(changed)
        return changed === token || !jwt || !isSignedBy(jwt, publicKeyOf(publicKey))
      }),
    )
  })

  test('a public key is never taken for a shared secret, and nothing is no signature', () => {
    const { publicKey } = pairs.RS256
    const text = `${encode({ alg: 'HS256' })}.${encode({ sub: 'me' })}`
    const secret = createHmac('sha256', publicKey.export({ type: 'spki', format: 'pem' }))
      .update(text)
      .digest('base64url')
    for (const token of [
      `${text}.${secret}`,
      `${encode({ alg: 'none' })}.${encode({ sub: 'me' })}.AA`,
      `${encode({ alg: 'toString' })}.${encode({ sub: 'me' })}.AA`,
    ]) {
      const jwt = parseJwt(token)
      expect(jwt && isSignedBy(jwt, publicKeyOf(publicKey))).toBe(false)
    }
    expect(algorithmNames).not.toContain('HS256')
  })

  test('an algorithm is used only with keys of its own type, curve and length', () => {
    const short = generateKeyPairSync('rsa', { modulusLength: 1024 })
    const byShort = sign('sha256', Buffer.from('text'), short.privateKey)
    const byOther = sign('sha256', Buffer.from('text'), { key: pairs.ES384.privateKey, dsaEncoding: 'ieee-p1363' })
    for (const name of algorithmNames) {
      expect(isSignature(byShort, 'text', { name, key: short.publicKey }), name).toBe(false)
      expect(isSignature(byOther, 'text', { name, key: pairs.ES384.publicKey }), name).toBe(false)
    }
    expect(() => algorithmOf(generateKeyPairSync('ed25519').publicKey)).toThrow('signed with RSA or ECDSA')
  })
})

test('parseJwt takes only what is exactly of the form', () => {
  const good = signJwt({ sub: 'me' }, { key: pairs.ES256.privateKey, id: '' })
  const [head = '', body = '', tail = ''] = good.split('.')
  expect(parseJwt(good)).toBeDefined()
  // The last letter has bits that mean nothing: only one of the letters that stand for the same bytes counts.
  const same = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].filter((letter) =>
    Buffer.from(`${tail.slice(0, -1)}${letter}`, 'base64url').equals(Buffer.from(tail, 'base64url')),
  )
  expect(same).toHaveLength(16)
  expect(same.filter((letter) => parseJwt(`${good.slice(0, -1)}${letter}`) !== undefined)).toEqual([good.at(-1)])
  const others = [
    '',
    'a.b.c',
    `${head}.${body}`,
    `${good}.`,
    ` ${good}`,
    `${good}=`,
    `${head}.${encode('text')}.${tail}`,
    `${head}.${encode([1])}.${tail}`,
    `${encode({ alg: 5 })}.${body}.${tail}`,
    `${encode({ alg: 'ES256', kid: 7 })}.${body}.${tail}`,
    `${encode({ alg: 'ES256', crit: ['exp'] })}.${body}.${tail}`,
    `${head}.${body}.`,
    `${head}.${encode({ long: 'x'.repeat(70_000) })}.${tail}`,
  ]
  for (const other of others) expect(parseJwt(other), other.slice(0, 60)).toBeUndefined()
})

test('readKeySet reads what toJwk wrote, and passes over what it does not know', () => {
  const keys = Object.values(pairs).map(({ publicKey }) => publicKeyOf(publicKey))
  const read = readKeySet({
    keys: [
      ...keys.map(toJwk),
      { kty: 'oct', k: 'AAAA', kid: 'secret' },
      { kty: 'RSA', n: 5 },
      { kty: 'EC', use: 'enc', kid: 'x' },
      'text',
    ],
  })
  expect(read.map(({ id }) => id)).toEqual(keys.map(({ id }) => id))
  expect(read.every(({ key }, index) => keys[index]?.key.equals(key))).toBe(true)
  expect(readKeySet([])).toEqual([])
  expect(JSON.stringify(keys.map(toJwk))).not.toContain('"d"')
})
