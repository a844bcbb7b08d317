import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isConfigError } from './config-field.ts'
import { findConfig, loadConfig } from './connection-config.ts'
import { FakeHost } from './host.fixture.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

function file({
  name = 'dev',
  server = 'https://10.0.0.1:6443',
  cluster = '',
  user = '    token: abc',
  context = '',
} = {}): string {
  return [
    'apiVersion: v1',
    'kind: Config',
    `current-context: ${name}`,
    'clusters:',
    `- name: ${name}`,
    '  cluster:',
    `    server: ${server}`,
    cluster,
    'users:',
    `- name: ${name}`,
    '  user:',
    user,
    'contexts:',
    `- name: ${name}`,
    '  context:',
    `    cluster: ${name}`,
    `    user: ${name}`,
    context,
    '',
  ]
    .filter((line) => line !== '')
    .join('\n')
}

const own = '/home/me/.kube/config'
const account = '/var/run/secrets/kubernetes.io/serviceaccount'
const inPod = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }
const podFiles = { [`${account}/token`]: 'pod-token', [`${account}/ca.crt`]: 'CA', [`${account}/namespace`]: 'shop\n' }

describe('loadConfig looks in order', () => {
  test('what the caller says, then KUBECONFIG, then the home, then the pod', async () => {
    const files = {
      '/x': file({ name: 'explicit' }),
      '/k': file({ name: 'env' }),
      [own]: file({ name: 'home' }),
      ...podFiles,
    }
    const env = { KUBECONFIG: '/k', ...inPod }
    const server = async (options: object, host: FakeHost): Promise<string> =>
      (await loadConfig({ ...options, host })).origin
    expect(await server({ kubeconfig: '/x' }, new FakeHost({ env, files }))).toBe('context "explicit" of /x')
    expect(await server({}, new FakeHost({ env, files }))).toBe('context "env" of /k')
    expect(await server({}, new FakeHost({ env: inPod, files }))).toBe(`context "home" of ${own}`)
    expect(await server({}, new FakeHost({ env: inPod, files: podFiles }))).toBe('the service account of this pod')
  })

  test('nothing anywhere is no error for findConfig, and a clear one for loadConfig', async () => {
    expect(await findConfig({ host: new FakeHost() })).toBeUndefined()
    expect(
      await findConfig({ host: new FakeHost({ files: { [own]: 'apiVersion: v1\nkind: Config\nclusters: null\n' } }) }),
    ).toBeUndefined()
    await expect(loadConfig({ host: new FakeHost() })).rejects.toThrow('no cluster is configured: set KUBECONFIG')
  })

  test('in a pod: address, namespace, and files that are read again', async () => {
    expect(
      await loadConfig({
        host: new FakeHost({ env: { ...inPod, KUBERNETES_SERVICE_HOST: 'fd00::1' }, files: podFiles }),
      }),
    ).toEqual({
      origin: 'the service account of this pod',
      server: 'https://[fd00::1]:443',
      namespace: 'shop',
      token: { file: `${account}/token` },
      ca: { file: `${account}/ca.crt` },
    })
    expect(await findConfig({ host: new FakeHost({ env: inPod }) })).toBeUndefined()
  })
})

describe('kubeconfig', () => {
  test('several files: the first that has an entry has it alone, the first current context counts, missing files are passed over', async () => {
    const files = {
      '/a': 'contexts:\n- name: one\n  context: {cluster: c, user: u}\nusers:\n- name: u\n  user: {token: from-a}\n',
      '/b': 'current-context: one\nclusters:\n- name: c\n  cluster: {server: "https://b"}\nusers:\n- name: u\n  user: {token: from-b, username: x}\ncontexts:\n- name: one\n  context: {cluster: other, user: u, namespace: ns-b}\n',
      '/c': 'current-context: two\nclusters:\n- name: c\n  cluster: {server: "https://c"}\n',
    }
    const config = await loadConfig({ host: new FakeHost({ env: { KUBECONFIG: '/a:/missing::/b:/c:/a' }, files }) })
    expect(config).toEqual({
      origin: 'context "one" of /a, /b, /c',
      server: 'https://b',
      namespace: 'default',
      token: { text: 'from-a' },
    })
  })

  test('inline data and files beside the file; data goes first', async () => {
    const user = `    client-certificate-data: ${base64('CERT')}\n    client-certificate: ignored.crt\n    client-key: keys/me.key`
    const cluster = `    certificate-authority: ../ca.crt\n    tls-server-name: api.example.com\n    proxy-url: http://proxy:3128`
    expect(
      await loadConfig({
        kubeconfig: '/etc/k8s/config',
        host: new FakeHost({ files: { '/etc/k8s/config': file({ user, cluster, context: '    namespace: shop' }) } }),
      }),
    ).toMatchObject({
      namespace: 'shop',
      ca: { file: '/etc/ca.crt' },
      cert: { text: 'CERT' },
      key: { file: '/etc/k8s/keys/me.key' },
      tlsServerName: 'api.example.com',
      proxyUrl: 'http://proxy:3128',
    })
  })

  test('users of every kind', async () => {
    const read = async (user: string) =>
      loadConfig({ kubeconfig: '/k/c', host: new FakeHost({ files: { '/k/c': file({ user }) } }) })
    expect(await read('    token: 12345')).toMatchObject({ token: { text: '12345' } })
    expect(await read('    token: old\n    tokenFile: t')).toMatchObject({ token: { file: '/k/t' } })
    expect(await read('    username: me\n    password: secret')).toMatchObject({
      basic: { username: 'me', password: 'secret' },
    })
    expect(
      await read('    as: jane\n    as-uid: "7"\n    as-groups: [dev, ops]\n    as-user-extra: {scopes: [a, b]}'),
    ).toMatchObject({ impersonate: { user: 'jane', uid: '7', groups: ['dev', 'ops'], extra: { scopes: ['a', 'b'] } } })
    expect(
      await read(
        '    exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./bin/login, args: [a], env: [{name: X, value: z}], provideClusterInfo: true}',
      ),
    ).toMatchObject({
      exec: {
        command: '/k/bin/login',
        args: ['a'],
        env: { X: 'z' },
        interactiveMode: 'IfAvailable',
        provideClusterInfo: true,
      },
    })
  })

  test("a context of the caller's choice", async () => {
    const text = file({ name: 'dev' }).replace(
      'contexts:\n',
      'contexts:\n- name: prod\n  context: {cluster: dev, user: dev, namespace: live}\n',
    )
    expect(
      await loadConfig({ kubeconfig: '/k', context: 'prod', host: new FakeHost({ files: { '/k': text } }) }),
    ).toMatchObject({ namespace: 'live' })
  })

  test("a mistake in an entry that is not used is nobody's business", async () => {
    const text = file().replace('users:\n', 'users:\n- name: old\n  user: {auth-provider: {name: gcp}, exec: {}}\n')
    expect(await loadConfig({ kubeconfig: '/k', host: new FakeHost({ files: { '/k': text } }) })).toMatchObject({
      token: { text: 'abc' },
    })
  })

  test.each<[string, string, string]>([
    ['no YAML', 'a: [', '/k cannot be read as YAML'],
    ['a list', '- a', '/k is no kubeconfig'],
    ['another kind', 'kind: Pod', '/k: kind is "Pod" and not Config'],
    ['clusters of the wrong type', 'clusters: 7', '/k: clusters must be a list'],
    ['an entry without name', 'users:\n- user: {}\n', '/k: users[0].name is missing'],
    [
      'no current context',
      file().replace('current-context: dev', ''),
      '/k: current-context is not set: choose one of "dev"',
    ],
    [
      'a current context that is not there',
      file().replace('current-context: dev', 'current-context: prod'),
      '/k: there is no context "prod": choose one of "dev"',
    ],
    [
      'a cluster that is not there',
      file().replace('    cluster: dev', '    cluster: gone'),
      '/k: contexts[0].context.cluster names "gone", and there is no such cluster: there is "dev"',
    ],
    ['no server', file({ server: '""' }), '/k: clusters[0].cluster.server is missing'],
    ['a server that is none', file({ server: 'ftp://x' }), '/k: clusters[0].cluster.server "ftp://x" is no address'],
    [
      'a namespace that is none',
      file({ context: '    namespace: A_B' }),
      '/k: contexts[0].context.namespace "A_B" is no namespace',
    ],
    ['a SOCKS proxy', file({ cluster: '    proxy-url: socks5://p:1080' }), 'SOCKS proxies are not supported'],
    [
      'insecure with an authority',
      file({ cluster: '    insecure-skip-tls-verify: true\n    certificate-authority: x' }),
      'exclude each other',
    ],
    [
      'data that is no base64',
      file({ cluster: '    certificate-authority-data: "%%"' }),
      '/k: clusters[0].cluster.certificate-authority-data must be base64',
    ],
    [
      'a certificate without key',
      file({ user: '    client-certificate: x' }),
      '/k: users[0].user.client-key is missing',
    ],
    [
      'an auth provider',
      file({ user: '    auth-provider: {name: gcp}' }),
      '/k: users[0].user.auth-provider "gcp" is not supported: use a credential plugin (exec)',
    ],
    ['two ways to sign in', file({ user: '    token: a\n    username: b' }), 'token and username exclude each other'],
    ['groups without user', file({ user: '    as-groups: [a]' }), '/k: users[0].user.as is missing'],
    [
      'exec without command',
      file({ user: '    exec: {apiVersion: client.authentication.k8s.io/v1}' }),
      '/k: users[0].user.exec.command is missing',
    ],
    [
      'exec of an old version',
      file({ user: '    exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}' }),
      'is not known: update the plugin',
    ],
    [
      'exec v1 without interactiveMode',
      file({ user: '    exec: {apiVersion: client.authentication.k8s.io/v1, command: x}' }),
      'interactiveMode is missing',
    ],
  ])('%s is told in one line by file and field', async (_, text, message) => {
    const error = await loadConfig({ kubeconfig: '/k', host: new FakeHost({ files: { '/k': text } }) }).catch(
      (caught: unknown) => caught as Error,
    )
    expect(isConfigError(error)).toBe(true)
    expect((error as Error).message).toContain(message)
    expect((error as Error).message.split('\n')).toHaveLength(1)
  })

  test('whatever stands in a file, it is a configuration or a ConfigError', async () => {
    const names = [
      'server',
      'token',
      'tokenFile',
      'exec',
      'as',
      'as-groups',
      'as-user-extra',
      'certificate-authority-data',
      'client-key-data',
      'proxy-url',
      'extensions',
      'insecure-skip-tls-verify',
      'auth-provider',
      '__proto__',
      'command',
      'apiVersion',
      'env',
      'args',
    ]
    const part = fc.dictionary(
      fc.constantFrom(...names),
      fc.oneof(
        fc.jsonValue({ maxDepth: 2 }),
        fc.constant('https://x'),
        fc.constant('client.authentication.k8s.io/v1beta1'),
      ),
    )
    await fc.assert(
      fc.asyncProperty(part, part, fc.jsonValue({ maxDepth: 2 }), async (cluster, user, context) => {
        const text = JSON.stringify({
          'current-context': 'c',
          clusters: [{ name: 'c', cluster }],
          users: [{ name: 'c', user }],
          contexts: [{ name: 'c', context: { cluster: 'c', user: 'c', namespace: context } }],
        })
        const outcome = await loadConfig({ kubeconfig: '/k', host: new FakeHost({ files: { '/k': text } }) }).catch(
          (error: unknown) => error,
        )
        expect(isConfigError(outcome) || typeof (outcome as { server?: unknown }).server === 'string').toBe(true)
      }),
      { numRuns: 300 },
    )
    expect(({} as { server?: unknown }).server).toBeUndefined()
  })

  test('a file that is not there is told by who named it', async () => {
    await expect(loadConfig({ kubeconfig: '/k', host: new FakeHost() })).rejects.toThrow(
      'the kubeconfig /k does not exist',
    )
    await expect(loadConfig({ host: new FakeHost({ env: { KUBECONFIG: '/a:/b' } }) })).rejects.toThrow(
      'KUBECONFIG names /a, /b, which does not exist',
    )
  })
})
