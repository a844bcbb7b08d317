import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLogger, SystemClock, SystemRandom } from '#base'
import { serverOptionsOf } from './api-server-options.ts'
import { allApiServerFlags, readFlags } from './flags.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-flags-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

function optionsOf(...args: readonly string[]): ReturnType<typeof serverOptionsOf> {
  return serverOptionsOf(readFlags(args, allApiServerFlags), {
    clock: new SystemClock(),
    random: new SystemRandom(),
    log: silentLogger,
  })
}

async function file(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text)
  return join(folder, name)
}

describe('serverOptionsOf', () => {
  test('without flags listens on this machine alone, by RBAC, and lets callers without a name ask', async () => {
    expect(await optionsOf()).toMatchObject({
      listen: { host: '127.0.0.1', port: 6443 },
      authorization: ['rbac'],
      authentication: { anonymous: true, clientCaPems: [] },
      admission: { enablePlugins: ['ServiceAccount', 'StorageObjectInUseProtection'], disablePlugins: [] },
      serviceClusterIpRanges: ['10.0.0.0/24'],
    })
  })

  test('makes a certificate into an empty folder and takes it the next time', async () => {
    const first = await optionsOf(`--cert-dir=${folder}`)
    expect(await readdir(folder)).toEqual(['apiserver.crt', 'apiserver.key'])
    const second = await optionsOf(`--cert-dir=${folder}`)
    expect(second.listen.identity?.server.keyPem).toBe(first.listen.identity?.server.keyPem)
    expect(second.listen.identity?.server.certificatePem).toBe(await readFile(join(folder, 'apiserver.crt'), 'utf8'))
  })

  test('takes the certificate that is named before that of the folder', async () => {
    const [cert, key] = [await file('a.crt', 'certificate'), await file('a.key', 'key')]
    expect(
      (await optionsOf(`--cert-dir=${folder}`, `--tls-cert-file=${cert}`, `--tls-private-key-file=${key}`)).listen
        .identity?.server,
    ).toEqual({ certificatePem: 'certificate', keyPem: 'key' })
  })

  test('reads who is believed: authorities, tokens, proxies, keys of service accounts', async () => {
    const path = await file('pem', 'PEM')
    const { authentication } = await optionsOf(
      `--client-ca-file=${path}`,
      '--token-auth-file=tokens.csv',
      '--anonymous-auth=false',
      `--requestheader-client-ca-file=${path}`,
      '--requestheader-allowed-names=a,b',
      '--service-account-issuer=https://a/',
      '--service-account-issuer=https://b/',
      `--service-account-key-file=${await file('public', 'PUBLIC')}`,
      `--service-account-signing-key-file=${await file('private', 'PRIVATE')}`,
      '--service-account-max-token-expiration=1h0m0s',
      '--api-audiences=x',
    )
    expect(authentication).toEqual({
      anonymous: false,
      clientCaPems: ['PEM'],
      tokenFile: 'tokens.csv',
      frontProxy: { caPem: 'PEM', allowedNames: ['a', 'b'] },
      serviceAccounts: {
        extendTokenExpiration: true,
        issuer: ['https://a/', 'https://b/'],
        audiences: ['x'],
        keys: ['PRIVATE', 'PUBLIC'],
        maxTokenExpirationSeconds: 3600,
      },
    })
  })

  test('reads who decides, and what holds them back', async () => {
    const options = await optionsOf(
      '--authorization-mode=Node,RBAC,AlwaysAllow',
      '--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement',
      '--disable-admission-plugins=ServiceAccount,PersistentVolumeClaimResize',
      '--service-cluster-ip-range=10.1.0.0/16,fd00::/108',
      '--max-requests-inflight=7',
      '--max-mutating-requests-inflight=0',
      '--request-timeout=1m30s',
      '--audit-log-path=audit.log',
    )
    expect(options).toMatchObject({
      authorization: ['rbac', 'always-allow'],
      admission: {
        enablePlugins: ['StorageObjectInUseProtection', 'OwnerReferencesPermissionEnforcement'],
        disablePlugins: ['ServiceAccount'],
      },
      limits: { readsMax: 7, requestMs: 90_000 },
      serviceClusterIpRanges: ['10.1.0.0/16', 'fd00::/108'],
      audit: { file: { path: 'audit.log' } },
    })
    expect(options.limits).not.toHaveProperty('writesMax')
  })

  test('reads the policy of the audit log from a file', async () => {
    const good = await file('good.yaml', 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Request\n')
    const bad = await file('bad.yaml', 'kind: Policy\n')
    expect(await optionsOf('--audit-log-path=a.log', `--audit-policy-file=${good}`)).toMatchObject({
      audit: { file: { path: 'a.log' }, policy: { rules: [{ level: 'Request' }] } },
    })
    await expect(optionsOf('--audit-log-path=a.log', `--audit-policy-file=${bad}`)).rejects.toThrow(
      'is not an audit policy with rules',
    )
  })

  test.each([
    ['--secure-port=many', '--secure-port must be a whole number up to 65535, got "many"'],
    ['--secure-port=65536', '--secure-port must be'],
    ['--authorization-mode=ABAC', '--authorization-mode must be RBAC, AlwaysAllow, AlwaysDeny or Node, got "ABAC"'],
    ['--request-timeout=soon', '--request-timeout must be a duration such as 1m0s, got "soon"'],
    ['--client-ca-file=/nowhere/ca.crt', 'ENOENT'],
    ['--tls-cert-file=/nowhere/a.crt', '--tls-cert-file needs --tls-private-key-file'],
  ])('refuses %s', async (flag, said) => {
    await expect(optionsOf(flag)).rejects.toThrow(said)
  })
})
