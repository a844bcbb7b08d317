import { afterEach, expect, test } from 'vitest'
import { Listening } from './callers.fixture.ts'
import { makeIdentity } from './identity.ts'

const running: Listening[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ server }) => server.stop({ graceMs: 0 })))
})

async function start(options: Parameters<typeof Listening.start>[0]): Promise<Listening> {
  const listening = await Listening.start(options)
  running.push(listening)
  return listening
}

/** A server whose service accounts others know, and a token of one of them. */
async function issuer(): Promise<{ readonly listening: Listening; readonly token: string }> {
  const listening = await start({
    authorization: [() => ({ allowed: true, reason: '' })],
    authentication: { anonymous: true, serviceAccounts: { issuer: 'https://first.example.com' } },
  })
  const headers = { authorization: `Bearer ${listening.identity.token}` }
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  await listening.ask({ path: accounts, method: 'POST', body: { metadata: { name: 'robot' } }, headers })
  const { text } = await listening.ask({
    path: `${accounts}/robot/token`,
    method: 'POST',
    body: { spec: { audiences: ['second'] } },
    headers,
  })
  return { listening, token: (JSON.parse(text) as { status: { token: string } }).status.token }
}

function trusting({ port, identity }: Listening, caPem = identity.authority.certificatePem): Promise<Listening> {
  const discoveryUrl = `https://127.0.0.1:${port}/.well-known/openid-configuration`
  return start({
    authentication: {
      oidc: [
        {
          url: 'https://first.example.com',
          discoveryUrl,
          caPem,
          audiences: ['second'],
          username: { claim: 'sub', prefix: 'first:' },
        },
      ],
    },
  })
}

test('oidcTokens lets service accounts of one server call another, over real sockets', async () => {
  const { listening, token } = await issuer()
  const second = await trusting(listening)
  const user = { username: 'first:system:serviceaccount:default:robot', groups: ['system:authenticated'] }
  for (let round = 0; round < 2; round++)
    expect((await second.who({ headers: { authorization: `Bearer ${token}` } })).user).toEqual(user)
  expect((await listening.who({ headers: { authorization: `Bearer ${token}` } })).status).toBe(401)
})

test('row 2: oidcTokens believes no issuer whose certificate is of another authority', async () => {
  const { listening, token } = await issuer()
  const second = await trusting(listening, makeIdentity().authority.certificatePem)
  expect((await second.who({ headers: { authorization: `Bearer ${token}` } })).status).toBe(401)
})
