import { describe, expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import { basic, bearer, fixedCredential, tokenFile, withCredentials, type CredentialSource } from './credentials.ts'
import { execCredential, type ExecConfig } from './exec-credential.ts'
import { FakeServer, json, refusal } from './fake.fixture.ts'
import { FakeHost, type FakeHostOptions } from './host.fixture.ts'

const request = { method: 'GET', target: '/', headers: {}, signal: new AbortController().signal }

async function shown(source: CredentialSource, server = new FakeServer(json({}))): Promise<(string | undefined)[]> {
  await withCredentials(server.transport, source)(request)
  return server.requests.map(({ headers }) => headers['authorization'])
}

describe('withCredentials', () => {
  test('shows a token, a password, or nothing, and leaves alone what is there', async () => {
    expect(await shown(fixedCredential(bearer('abc')))).toEqual(['Bearer abc'])
    expect(await shown(fixedCredential(basic('me', 'pass')))).toEqual([
      `Basic ${Buffer.from('me:pass').toString('base64')}`,
    ])
    expect(await shown(fixedCredential({}))).toEqual([undefined])
    const server = new FakeServer(json({}))
    await withCredentials(
      server.transport,
      fixedCredential(bearer('abc')),
    )({ ...request, headers: { authorization: 'own' } })
    expect(server.requests[0]?.headers['authorization']).toBe('own')
  })

  test('asks once more after 401, with another credential only', async () => {
    const files = { '/t': 'one' }
    const source = tokenFile('/t', {
      clock: new SimulatedClock(),
      readFile: (path) => new FakeHost({ files }).readFile(path),
    })
    const server = new FakeServer(() => {
      files['/t'] = 'two'
      return refusal(401, 'Unauthorized')
    }, json({}))
    expect(await shown(source, server)).toEqual(['Bearer one', 'Bearer two'])
    expect(await shown(source, new FakeServer(refusal(401, 'Unauthorized')))).toEqual(['Bearer two'])
    expect(await shown(fixedCredential(bearer('x')), new FakeServer(refusal(401, 'Unauthorized')))).toEqual([
      'Bearer x',
    ])
  })
})

test('tokenFile reads again after a minute, and keeps the last token while the file is away', async () => {
  const clock = new SimulatedClock()
  const host = new FakeHost({ files: { '/t': ' one\n' } })
  const source = tokenFile('/t', { clock, readFile: (path) => host.readFile(path) })
  const first = await source.get()
  host.files['/t'] = 'two'
  expect(await source.get()).toBe(first)
  await clock.advance(60_000)
  expect(await source.get()).toEqual({ authorization: 'Bearer two' })
  delete host.files['/t']
  await clock.advance(60_000)
  expect(await source.get()).toEqual({ authorization: 'Bearer two' })
  await expect(tokenFile('/u', { clock, readFile: (path) => host.readFile(path) }).get()).rejects.toThrow(
    'the token file /u cannot be read',
  )
})

describe('execCredential', () => {
  const config: ExecConfig = {
    where: '/k: users[0].user.exec',
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'login',
    args: ['--now'],
    env: { REGION: 'x' },
    provideClusterInfo: false,
    interactiveMode: 'Never',
  }
  const printed = (status: object): { code: number; stdout: string; stderr: string } => ({
    code: 0,
    stderr: '',
    stdout: JSON.stringify({ apiVersion: config.apiVersion, kind: 'ExecCredential', status }),
  })

  function source(
    options: FakeHostOptions,
    changed: Partial<ExecConfig> = {},
  ): { source: CredentialSource; host: FakeHost; clock: SimulatedClock } {
    const host = new FakeHost({ env: { PATH: '/bin' }, ...options })
    const clock = new SimulatedClock()
    return {
      source: execCredential(
        { ...config, ...changed },
        { host, clock, cluster: () => Promise.resolve({ server: 'https://x' }) },
      ),
      host,
      clock,
    }
  }

  test('runs once for all who wait, and again when the credential has expired or was refused', async () => {
    let count = 0
    const {
      source: plugin,
      host,
      clock,
    } = source({ program: () => printed({ token: `t${++count}`, expirationTimestamp: '2026-01-01T01:00:00Z' }) })
    const [a, b] = await Promise.all([plugin.get(), plugin.get()])
    expect([a, host.runs.length]).toEqual([{ authorization: 'Bearer t1' }, 1])
    expect(b).toBe(a)
    await clock.advance(3_599_000)
    expect(await plugin.get()).toBe(a)
    await clock.advance(1000)
    expect(await plugin.get()).toEqual({ authorization: 'Bearer t2' })
    expect(plugin.refuse(a)).toBe(true)
    expect(host.runs.length).toBe(2)
  })

  test('one that was refused is not given again', async () => {
    let count = 0
    const { source: plugin } = source({ program: () => printed({ token: `t${++count}` }) })
    const first = await plugin.get()
    plugin.refuse(first)
    expect(await plugin.get()).toEqual({ authorization: 'Bearer t2' })
  })

  test('is told what it may know: its environment, whether somebody is there, the cluster if it wants', async () => {
    const { source: plugin, host } = source(
      { program: () => printed({ token: 't' }), isTerminal: true },
      { provideClusterInfo: true, interactiveMode: 'IfAvailable' },
    )
    await plugin.get()
    const { KUBERNETES_EXEC_INFO: info = '', ...env } = host.runs[0]?.env ?? {}
    expect([host.runs[0]?.command, host.runs[0]?.args, env, host.runs[0]?.interactive]).toEqual([
      'login',
      ['--now'],
      { PATH: '/bin', REGION: 'x' },
      true,
    ])
    expect(JSON.parse(info)).toEqual({
      apiVersion: config.apiVersion,
      kind: 'ExecCredential',
      spec: { interactive: true, cluster: { server: 'https://x' } },
    })
  })

  test('gives a certificate with its key', async () => {
    const { source: plugin } = source({
      program: () => printed({ clientCertificateData: 'CERT', clientKeyData: 'KEY' }),
    })
    expect(await plugin.get()).toEqual({ certPem: 'CERT', keyPem: 'KEY' })
  })

  test.each<[string, string, FakeHostOptions & { changed?: Partial<ExecConfig> }]>([
    [
      'is not there',
      '/k: users[0].user.exec: login was not found: install it, or correct the command\nbrew install login',
      { changed: { installHint: 'brew install login' } },
    ],
    [
      'fails',
      '/k: users[0].user.exec: login ended with code 3: not signed in',
      { program: () => ({ code: 3, stdout: '', stderr: 'not signed in\n' }) },
    ],
    [
      'prints something else',
      'login did not print an ExecCredential',
      { program: () => ({ code: 0, stdout: 'hello', stderr: '' }) },
    ],
    [
      'prints another version',
      'printed version client.authentication.k8s.io/v1, and the kubeconfig wants client.authentication.k8s.io/v1beta1',
      { program: () => printed({ token: 't' }), changed: { apiVersion: 'client.authentication.k8s.io/v1beta1' } },
    ],
    ['prints nothing of use', 'printed neither a token nor a certificate', { program: () => printed({}) }],
    [
      'prints half a certificate',
      'printed only one of certificate and key',
      { program: () => printed({ clientKeyData: 'K' }) },
    ],
    [
      'needs a terminal',
      'needs a terminal',
      { program: () => printed({ token: 't' }), changed: { interactiveMode: 'Always' } },
    ],
  ])(
    'a program that %s is told, and run again by the next request',
    async (_, message, { changed = {}, ...options }) => {
      const { source: plugin, host } = source(options, changed)
      await expect(plugin.get()).rejects.toThrow(message)
      await expect(plugin.get()).rejects.toThrow(message)
      expect(host.runs.length).toBe(changed.interactiveMode === 'Always' ? 0 : 2)
    },
  )

  test('a program that hangs is ended', async () => {
    const { source: plugin, clock } = source({
      program: ({ signal }) =>
        new Promise((_, reject) => {
          signal?.addEventListener('abort', () => {
            reject(signal.reason as Error)
          })
        }),
    })
    const asked = expect(plugin.get()).rejects.toThrow('login could not be run: gave up after 60000 ms')
    await clock.advance(60_000)
    await asked
    expect(clock.pending).toBe(0)
  })
})
