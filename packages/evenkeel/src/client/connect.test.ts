import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import { connect } from './connect.ts'
import { FakeHost } from './host.fixture.ts'
import { authority, clientCertificate, startHttps, type Running } from './transport.fixture.ts'

let server: Running
let refused = ''

beforeAll(async () => {
  server = await startHttps(
    (incoming, response) => {
      const peer = (incoming.socket as TLSSocket).getPeerCertificate() as { subject?: { CN?: string } }
      const { authorization = '', 'impersonate-user': impersonated = '', 'user-agent': agent = '' } = incoming.headers
      response.writeHead(authorization === refused && refused !== '' ? 401 : 200, {
        'content-type': 'application/json',
      })
      response.end(JSON.stringify({ authorization, impersonated, agent, user: peer.subject?.CN ?? '' }))
    },
    { requestCert: true, rejectUnauthorized: false, ca: authority.certificatePem },
  )
})

afterAll(() => server.close())

function kubeconfig(user: object): string {
  return JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u', namespace: 'shop' } }],
    users: [{ name: 'u', user }],
    clusters: [{ name: 'c', cluster: { server: server.url, 'certificate-authority': 'ca.crt' } }],
  })
}

const files = (user: object): Record<string, string> => ({
  '/k/config': kubeconfig(user),
  '/k/ca.crt': authority.certificatePem,
})

async function whoami(
  user: object,
  more: { files?: Record<string, string>; program?: ConstructorParameters<typeof FakeHost>[0] } = {},
): Promise<unknown> {
  const host = new FakeHost({ files: { ...files(user), ...more.files }, ...more.program })
  await using client = await connect({ kubeconfig: '/k/config', host, userAgent: 'test/1' })
  return (await client.raw({ path: '/' })).json()
}

test("connect: a token, a file with one, a certificate from files, somebody else's name", async () => {
  expect(await whoami({ token: 'abc' })).toEqual({
    authorization: 'Bearer abc',
    impersonated: '',
    agent: 'test/1',
    user: '',
  })
  expect(await whoami({ tokenFile: 'token' }, { files: { '/k/token': 'from-file\n' } })).toMatchObject({
    authorization: 'Bearer from-file',
  })
  const { certPem, keyPem } = clientCertificate('jane')
  expect(
    await whoami(
      { 'client-certificate': 'c.crt', 'client-key-data': Buffer.from(keyPem).toString('base64'), as: 'joe' },
      { files: { '/k/c.crt': certPem } },
    ),
  ).toMatchObject({ authorization: '', impersonated: 'joe', user: 'jane' })
})

test('connect: a plugin gives a token or a certificate, and is asked again after 401', async () => {
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'login',
    interactiveMode: 'Never',
    provideClusterInfo: true,
  }
  const print = (status: object) => ({
    code: 0,
    stderr: '',
    stdout: JSON.stringify({ apiVersion: exec.apiVersion, kind: 'ExecCredential', status }),
  })
  const { certPem, keyPem } = clientCertificate('plugged')
  let info = ''
  expect(
    await whoami(
      { exec },
      {
        program: {
          program: ({ env }) => {
            info = env['KUBERNETES_EXEC_INFO'] ?? ''
            return print({ clientCertificateData: certPem, clientKeyData: keyPem })
          },
        },
      },
    ),
  ).toMatchObject({ user: 'plugged' })
  expect(JSON.parse(info)).toMatchObject({
    spec: {
      cluster: {
        server: server.url,
        'certificate-authority-data': Buffer.from(authority.certificatePem).toString('base64'),
      },
    },
  })
  let count = 0
  refused = 'Bearer t1'
  expect(await whoami({ exec }, { program: { program: () => print({ token: `t${++count}` }) } })).toMatchObject({
    authorization: 'Bearer t2',
  })
  refused = ''
})

test('connect: a file that is missing is told by the first call, an expired token by the server', async () => {
  await expect(whoami({ 'client-certificate': 'gone.crt', 'client-key': 'gone.key' })).rejects.toThrow(
    'client-certificate /k/gone.crt cannot be read',
  )
  refused = 'Bearer old'
  await expect(whoami({ token: 'old' })).rejects.toMatchObject({ reason: 'Unauthorized' })
  refused = ''
})

test('connect: certificates that are renewed on disk are used after a minute', async () => {
  const host = new FakeHost({ files: { ...files({ 'client-certificate': 'c.crt', 'client-key': 'c.key' }) } })
  const write = (user: string): void => {
    const { certPem, keyPem } = clientCertificate(user)
    Object.assign(host.files, { '/k/c.crt': certPem, '/k/c.key': keyPem })
  }
  write('before')
  const clock = new SimulatedClock()
  await using client = await connect({ kubeconfig: '/k/config', host, clock })
  const user = async (): Promise<unknown> => (await client.raw({ path: '/' })).json()['user']
  expect(await user()).toBe('before')
  write('after')
  expect(await user()).toBe('before')
  await clock.advance(60_000)
  expect(await user()).toBe('after')
})
