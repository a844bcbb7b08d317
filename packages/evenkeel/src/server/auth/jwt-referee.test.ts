/**
 * Our verification of JSON Web Tokens against that of jose, the library that others use (docs/decisions/jwt.md).
 */
import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import fc from 'fast-check'
import { compactVerify, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { algorithmNames, isSignedBy, parseJwt, publicKeyOf, signJwt } from './jwt.ts'

interface KeyPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

const rsa: KeyPair = generateKeyPairSync('rsa', { modulusLength: 2048 })
const curves: Readonly<Record<string, KeyPair>> = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'prime256v1' }),
  ES384: generateKeyPairSync('ec', { namedCurve: 'secp384r1' }),
  ES512: generateKeyPairSync('ec', { namedCurve: 'secp521r1' }),
}
const claims = { iss: 'https://issuer.example.com', sub: 'ann', groups: ['a', 'b'] }
const pairFor = (algorithm: string): KeyPair => curves[algorithm] ?? rsa

function acceptedByUs(token: string, key: KeyObject): boolean {
  const parsed = parseJwt(token)
  return parsed !== undefined && isSignedBy(parsed, publicKeyOf(key))
}

async function acceptedByJose(token: string, key: KeyObject): Promise<boolean> {
  return compactVerify(token, key, { algorithms: [...algorithmNames] }).then(
    ({ payload }) => typeof JSON.parse(Buffer.from(payload).toString()) === 'object',
    () => false,
  )
}

describe.each(algorithmNames)('%s', (algorithm) => {
  const { publicKey, privateKey } = pairFor(algorithm)

  test('what jose signs, we accept, and with no other key', async () => {
    const token = await new SignJWT(claims).setProtectedHeader({ alg: algorithm, kid: 'k' }).sign(privateKey)
    expect(parseJwt(token)).toMatchObject({ algorithm, keyId: 'k', claims })
    expect(acceptedByUs(token, publicKey)).toBe(true)
    for (const other of Object.keys(curves).filter((name) => name !== algorithm))
      expect(acceptedByUs(token, pairFor(other).publicKey)).toBe(false)
  })

  test('what was changed after signing, neither accepts', async () => {
    const token = await new SignJWT(claims).setProtectedHeader({ alg: algorithm }).sign(privateKey)
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom(...'AQgw_-9.'), async (index, character) => {
        const changed = `${token.slice(0, index)}${character}${token.slice(index + 1)}`
        const own = acceptedByUs(changed, publicKey)
        expect(own).toBe(changed === token)
        // jose ignores the unused bits of the last character; we want one text for one token.
        if (own) expect(await acceptedByJose(changed, publicKey)).toBe(true)
      }),
      { numRuns: 60, seed: 1 },
    )
  })
})

test('what we sign, jose accepts', async () => {
  for (const { publicKey, privateKey } of [rsa, ...Object.values(curves)]) {
    const token = signJwt(claims, { key: privateKey, id: 'k' })
    expect(await acceptedByJose(token, publicKey)).toBe(true)
  }
})

test.each([
  ['no signature', (head: string, body: string) => `${head}.${body}.`, { alg: 'none' }],
  ['a public key as a shared secret', (head: string, body: string) => `${head}.${body}.AAAA`, { alg: 'HS256' }],
  [
    'an extension that must be understood',
    (head: string, body: string) => signed(head, body),
    { alg: 'RS256', crit: ['x'], x: 1 },
  ],
])('neither accepts %s', async (_, tokenOf, header) => {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = tokenOf(encode(header), encode(claims))
  expect([acceptedByUs(token, rsa.publicKey), await acceptedByJose(token, rsa.publicKey)]).toEqual([false, false])
})

function signed(head: string, body: string): string {
  const signature = createSign('sha256').update(`${head}.${body}`).sign(rsa.privateKey).toString('base64url')
  return `${head}.${body}.${signature}`
}
