import { expect, test } from 'vitest'
import { declareKind, type KubeObject } from '#api'
import type { ControllerDeclaration } from '#controller'
import { tokenController } from './token-controller.ts'
import { World } from './world.fixture.ts'

const Secret = declareKind<KubeObject & { readonly type?: string; readonly data?: Readonly<Record<string, string>> }>({
  group: '',
  version: 'v1',
  kind: 'Secret',
  statusSubresource: false,
})
const ServiceAccount = declareKind({ group: '', version: 'v1', kind: 'ServiceAccount', statusSubresource: false })
const key = { name: 'robot-token', namespace: 'default' }
const type = 'kubernetes.io/service-account-token'

interface TokenWorld extends AsyncDisposable {
  readonly world: World
  token(): Promise<string>
  review(token: string): Promise<unknown>
}

async function tokenWorld(): Promise<TokenWorld> {
  const world = await World.start()
  const controller = tokenController({ caPem: 'PEM', tokenForSecret: (secret) => world.server.tokenForSecret(secret) })
  const running = world.run(world.manager({ controllers: [controller as unknown as ControllerDeclaration] }))
  return {
    world,
    async token() {
      const decoded = async (): Promise<string> =>
        Buffer.from((await world.client.find(Secret, key))?.data?.['token'] ?? '', 'base64').toString()
      await world.until(async () => (await decoded()) !== '')
      return decoded()
    },
    async review(token) {
      const { body } = await world.server.transport({
        method: 'POST',
        target: '/apis/authentication.k8s.io/v1/tokenreviews',
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify({ spec: { token } })),
        signal: new AbortController().signal,
      })
      const { status } = JSON.parse(String(body)) as {
        status: { authenticated?: boolean; user: { username?: string }; error?: string }
      }
      return status.user.username ?? status.error
    },
    async [Symbol.asyncDispose]() {
      await running.stop()
      await world.server.stop()
    },
  }
}

const makeSecret = (
  world: World,
  annotations: Record<string, string> = { 'kubernetes.io/service-account.name': 'robot' },
): Promise<unknown> => world.client.create(Secret, { metadata: { ...key, annotations }, type })

test('tokenController fills the Secret of a service account with a token that the server knows', async () => {
  await using it = await tokenWorld()
  const { world } = it
  const account = await world.client.create(ServiceAccount, { metadata: { name: 'robot', namespace: 'default' } })
  await makeSecret(world)
  const token = await it.token()
  expect(await it.review(token)).toBe('system:serviceaccount:default:robot')
  const { data, metadata } = await world.client.get(Secret, key)
  expect([data?.['ca.crt'], data?.['namespace']]).toEqual(
    ['PEM', 'default'].map((text) => Buffer.from(text).toString('base64')),
  )
  expect(metadata.annotations).toEqual({
    'kubernetes.io/service-account.name': 'robot',
    'kubernetes.io/service-account.uid': account.metadata.uid,
  })
})

test('tokenController puts back what was taken out; what was in is no token any more', async () => {
  await using it = await tokenWorld()
  const { world } = it
  await world.client.create(ServiceAccount, { metadata: { name: 'robot', namespace: 'default' } })
  await makeSecret(world)
  const first = await it.token()
  await world.client.patch(
    { apiVersion: 'v1', kind: 'Secret', metadata: key },
    { data: { token: Buffer.from('mine').toString('base64'), 'ca.crt': null } },
  )
  await world.until(async () => (await world.client.get(Secret, key)).data?.['ca.crt'] !== undefined)
  expect(await it.review(first)).toBe("[invalid bearer token, Token does not match server's copy]")
  expect(await it.review('mine')).toBe('invalid bearer token')
})

test('tokenController removes the Secret with its service account, and the token is worth nothing', async () => {
  await using it = await tokenWorld()
  const { world } = it
  const account = await world.client.create(ServiceAccount, { metadata: { name: 'robot', namespace: 'default' } })
  await makeSecret(world)
  const token = await it.token()
  await world.client.delete(account)
  await world.until(async () => (await world.client.find(Secret, key)) === undefined)
  expect(await it.review(token)).toBe('[invalid bearer token, Token has been invalidated]')
})

test('tokenController removes a Secret for an account that is not there, or was another', async () => {
  await using it = await tokenWorld()
  const { world } = it
  await makeSecret(world)
  await world.until(async () => (await world.client.find(Secret, key)) === undefined)
  await world.client.create(ServiceAccount, { metadata: { name: 'robot', namespace: 'default' } })
  await makeSecret(world, {
    'kubernetes.io/service-account.name': 'robot',
    'kubernetes.io/service-account.uid': 'another',
  })
  await world.until(async () => (await world.client.find(Secret, key)) === undefined)
})

test('a token out of a Secret is worth nothing once the Secret is gone or marked invalid', async () => {
  await using it = await tokenWorld()
  const { world } = it
  await world.client.create(ServiceAccount, { metadata: { name: 'robot', namespace: 'default' } })
  await makeSecret(world)
  const token = await it.token()
  const reference = { apiVersion: 'v1', kind: 'Secret', metadata: key }
  await world.client.patch(reference, {
    metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' } },
  })
  expect(await it.review(token)).toContain('has been marked invalid')
  await world.client.delete(reference)
  expect(await it.review(token)).toBe('[invalid bearer token, Token has been invalidated]')
})
