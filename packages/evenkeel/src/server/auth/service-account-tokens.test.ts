import { expect, test } from 'vitest'
import type { UnstructuredObject } from '#api'
import { SeededRandom, SimulatedClock } from '#base'
import { digestOf, type TokenReviewResult } from './bearer-tokens.ts'
import { makeServiceAccountKey, ServiceAccountKeys } from './service-account-keys.ts'
import { ServiceAccountTokens, type ServiceAccountGetter } from './service-account-tokens.ts'

const robot = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'robot', namespace: 'shop', uid: 'u1' },
} as UnstructuredObject
const account = { name: 'robot', uid: 'u1' }
const keys = new ServiceAccountKeys([makeServiceAccountKey()])

/** Counts how often somebody has to look for a key, that is, verifies a signature. */
class CountedKeys extends ServiceAccountKeys {
  count = 0
  override find(id: string): ReturnType<ServiceAccountKeys['find']> {
    this.count++
    return super.find(id)
  }
}

function makeTokens(
  objects: Partial<ServiceAccountGetter> = {},
  used: ServiceAccountKeys = keys,
): ServiceAccountTokens {
  return new ServiceAccountTokens({
    keys: used,
    issuers: ['https://us'],
    audiences: ['https://us'],
    clock: new SimulatedClock(),
    random: new SeededRandom('tokens'),
    objects: { serviceAccount: () => robot, find: () => Promise.resolve(undefined), ...objects },
  })
}

const ask = (
  tokens: ServiceAccountTokens,
  token: string,
): TokenReviewResult | undefined | Promise<TokenReviewResult | undefined> =>
  tokens.authenticator({ token, digest: digestOf(token), audiences: ['https://us'] })
const wanted = { namespace: 'shop', account, audiences: ['https://us'], lifeSeconds: 600 }

test('AccountTokens knows a token at once when its account is known', () => {
  const tokens = makeTokens()
  expect(ask(tokens, tokens.issue(wanted))).toMatchObject({
    user: { name: 'system:serviceaccount:shop:robot' },
    audiences: ['https://us'],
  })
})

test('AccountTokens looks again for an account that is new, or new under its name, before it turns anybody away', async () => {
  for (const seen of [undefined, { ...robot, metadata: { ...robot.metadata, uid: 'u0' } }]) {
    const asked: string[] = []
    const tokens = makeTokens({
      serviceAccount: () => seen,
      find: (plural, namespace, name) => {
        asked.push(`${plural} ${namespace}/${name}`)
        return Promise.resolve(robot)
      },
    })
    expect(await ask(tokens, tokens.issue(wanted))).toMatchObject({
      user: { name: 'system:serviceaccount:shop:robot' },
    })
    expect(asked).toEqual(['serviceaccounts shop/robot'])
  }
})

test('AccountTokens verifies a good signature once, and a bad one each time', () => {
  const counted = new CountedKeys([makeServiceAccountKey()])
  const tokens = makeTokens({}, counted)
  const token = tokens.issue(wanted)
  for (let round = 0; round < 3; round++) expect(ask(tokens, token)).toHaveProperty('user')
  expect(counted.count).toBe(1)
  const forged = `${token.slice(0, token.lastIndexOf('.'))}.${Buffer.alloc(64, 1).toString('base64url')}`
  for (let round = 0; round < 3; round++) expect(ask(tokens, forged)).toEqual({ error: 'invalid signature' })
  expect(counted.count).toBe(4)
})

test('AccountTokens passes over what is no token of an issuer it knows', () => {
  const tokens = makeTokens()
  const foreign = keys.sign({ iss: 'https://them', aud: ['https://us'], exp: 9e9 })
  for (const token of ['', 'text', foreign, `${foreign}.x`]) expect(ask(tokens, token), token).toBeUndefined()
})

test('AccountTokens refuses signed tokens that do not say enough', () => {
  const tokens = makeTokens()
  const about = { namespace: 'shop', serviceaccount: account }
  for (const claims of [
    {},
    { exp: 9e9 },
    { 'kubernetes.io': about },
    { 'kubernetes.io': { namespace: 'shop' }, exp: 9e9 },
    { 'kubernetes.io': { serviceaccount: account }, exp: 9e9 },
  ]) {
    expect(ask(tokens, keys.sign({ iss: 'https://us', aud: ['https://us'], ...claims }))).toHaveProperty('error')
  }
  expect(ask(tokens, keys.sign({ iss: 'kubernetes/serviceaccount', sub: 'system:serviceaccount:shop:robot' }))).toEqual(
    { error: 'sub claim is invalid' },
  )
})
