/**
 * The flags of `kube-apiserver` as options of an Evenkeel server.
 *
 * Files are read once, at the start. A missing file or an unsupported mode is an error: a server that is less strict than
 * configured would be worse than none.
 */
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, Logger, Random } from '#base'
import { isJsonObject, parseDuration } from '#api'
import { isAdmissionPluginName, makeIdentity } from '#server'
import type {
  AdmissionOptions,
  AdmissionPluginName,
  AuditPolicy,
  AuthenticationOptions,
  Identity,
  ServerListenOptions,
  ServerOptions,
  ServiceAccountOptions,
} from '#server'
import { readYaml } from '#wire'
import type { Flags } from './flags.ts'

type LimitOptions = NonNullable<ServerOptions['limits']>
type AuthorizationMode = Exclude<NonNullable<ServerOptions['authorization']>, readonly unknown[]>

interface ServerEnvironment {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/**
 * The server options for these flags.
 *
 * @throws {RangeError} for an unsupported value, an `Error` for a file that cannot be read.
 */
export async function serverOptionsOf(
  flags: Flags,
  environment: ServerEnvironment,
): Promise<ServerOptions & { listen: ServerListenOptions }> {
  const [identity, authentication] = await Promise.all([identityOf(flags, environment), authenticationOf(flags)])
  const proxyClient = await proxyClientOf(flags)
  const audit = await auditOf(flags)
  return {
    ...environment,
    listen: { host: hostOf(flags), port: countOf(flags, 'secure-port', { max: 65_535 }) ?? 6443, identity },
    authentication,
    authorization: authorizationOf(flags),
    admission: admissionOf(flags, environment),
    limits: limitsOf(flags),
    ...(proxyClient && { proxyClient }),
    featureGates: { CBORServingAndStorage: flags.values('feature-gates').includes('CBORServingAndStorage=true') },
    serviceClusterIpRanges: serviceRangesOf(flags),
    ...(audit && { audit }),
  }
}

async function auditOf(flags: Flags): Promise<ServerOptions['audit']> {
  const [path, policyFile] = [flags.value('audit-log-path'), flags.value('audit-policy-file')]
  if (path === undefined) return undefined
  const sink =
    path === '-' ? { write: (line: string): unknown => process.stdout.write(`${line}\n`) } : { file: { path } }
  return policyFile === undefined ? sink : { ...sink, policy: await readAuditPolicy(policyFile) }
}

async function readAuditPolicy(file: string): Promise<AuditPolicy> {
  const { value } = await readYaml(await readFile(file))
  const { kind, rules } = isJsonObject(value) ? value : {}
  if (kind !== 'Policy' || !Array.isArray(rules)) throw new RangeError(`${file} is not an audit policy with rules`)
  return value as unknown as AuditPolicy
}

function hostOf(flags: Flags): string {
  return flags.value('bind-address') ?? '127.0.0.1'
}

/** The serving certificate of the flags or of the folder; otherwise a new one, which is written to the folder. */
async function identityOf(flags: Flags, { clock, random }: ServerEnvironment): Promise<Identity> {
  const identity = makeIdentity({ clock, random, names: [hostOf(flags)] })
  const [certificateFile, keyFile, folder] = [
    flags.value('tls-cert-file'),
    flags.value('tls-private-key-file'),
    flags.value('cert-dir'),
  ]
  if ((certificateFile === undefined) !== (keyFile === undefined))
    throw new RangeError('--tls-cert-file needs --tls-private-key-file, and vice versa')
  if (certificateFile !== undefined && keyFile !== undefined)
    return { ...identity, server: await readCredential(certificateFile, keyFile) }
  if (folder === undefined) return identity
  const files = [join(folder, 'apiserver.crt'), join(folder, 'apiserver.key')] as const
  if (files.every((file) => existsSync(file))) return { ...identity, server: await readCredential(...files) }
  await mkdir(folder, { recursive: true })
  await writeFile(files[0], `${identity.server.certificatePem}${identity.authority.certificatePem}`)
  await writeFile(files[1], identity.server.keyPem, { mode: 0o600 })
  return identity
}

async function readCredential(certificateFile: string, keyFile: string): Promise<Identity['server']> {
  const [certificatePem, keyPem] = await Promise.all([readFile(certificateFile, 'utf8'), readFile(keyFile, 'utf8')])
  return { certificatePem, keyPem }
}

async function authenticationOf(flags: Flags): Promise<AuthenticationOptions> {
  const clientAuthorities = await textsOf(flags, 'client-ca-file')
  const frontProxy = await frontProxyOf(flags)
  const tokenFile = flags.value('token-auth-file')
  return {
    anonymous: flags.isOn('anonymous-auth', true),
    clientCaPems: clientAuthorities,
    serviceAccounts: await serviceAccountsOf(flags),
    ...(tokenFile !== undefined && { tokenFile }),
    ...(frontProxy && { frontProxy }),
  }
}

async function frontProxyOf(flags: Flags): Promise<AuthenticationOptions['frontProxy']> {
  const [caPem] = await textsOf(flags, 'requestheader-client-ca-file')
  if (caPem === undefined) return undefined
  const given = {
    allowedNames: flags.values('requestheader-allowed-names'),
    usernameHeaders: flags.values('requestheader-username-headers'),
    groupHeaders: flags.values('requestheader-group-headers'),
    uidHeaders: flags.values('requestheader-uid-headers'),
    extraHeaderPrefixes: flags.values('requestheader-extra-headers-prefix'),
  }
  return { caPem, ...Object.fromEntries(Object.entries(given).filter(([, values]) => values.length > 0)) }
}

/** The client certificate for aggregated API servers. */
async function proxyClientOf(flags: Flags): Promise<Identity['server'] | undefined> {
  const [certificateFile, keyFile] = [flags.value('proxy-client-cert-file'), flags.value('proxy-client-key-file')]
  if ((certificateFile === undefined) !== (keyFile === undefined))
    throw new RangeError('--proxy-client-cert-file needs --proxy-client-key-file, and vice versa')
  return certificateFile === undefined || keyFile === undefined ? undefined : readCredential(certificateFile, keyFile)
}

async function serviceAccountsOf(flags: Flags): Promise<ServiceAccountOptions> {
  const [issuer, audiences, keysUrl] = [
    flags.values('service-account-issuer'),
    flags.values('api-audiences'),
    flags.value('service-account-jwks-uri'),
  ]
  const expirationMaxMs = durationOf(flags, 'service-account-max-token-expiration')
  const signing = await textsOf(flags, 'service-account-signing-key-file')
  const verifying = await textsOf(flags, 'service-account-key-file')
  return {
    extendTokenExpiration: flags.isOn('service-account-extend-token-expiration', true),
    ...(issuer.length > 0 && { issuer }),
    ...(audiences.length > 0 && { audiences }),
    ...(keysUrl !== undefined && { jwksUri: keysUrl }),
    ...(expirationMaxMs !== undefined && { maxTokenExpirationSeconds: Math.floor(expirationMaxMs / 1000) }),
    ...(signing.length > 0 && { keys: [...signing, ...verifying] }),
  }
}

/** The mode `Node` is ignored: there are no nodes. */
function authorizationOf(flags: Flags): readonly AuthorizationMode[] {
  const named = flags.values('authorization-mode').filter((mode) => mode !== 'Node')
  return (named.length > 0 ? named : ['RBAC']).map((mode): AuthorizationMode => {
    switch (mode) {
      case 'RBAC':
        return 'rbac'
      case 'AlwaysAllow':
        return 'always-allow'
      case 'AlwaysDeny':
        return () => ({ allowed: false, reason: 'Everything is forbidden.' })
      default:
        throw new RangeError(
          `--authorization-mode must be RBAC, AlwaysAllow, AlwaysDeny or Node, got ${JSON.stringify(mode)}`,
        )
    }
  })
}

/** On in kube-apiserver; an Evenkeel server turns them on with the controllers that they need. */
const defaultPlugins: readonly AdmissionPluginName[] = ['ServiceAccount', 'StorageObjectInUseProtection']

/** Other plugins of kube-apiserver than ours have no effect; one to enable is reported. */
function admissionOf(flags: Flags, { log }: ServerEnvironment): AdmissionOptions {
  const disablePlugins = flags.values('disable-admission-plugins').filter(isAdmissionPluginName)
  const enabled = flags.values('enable-admission-plugins')
  for (const plugin of enabled)
    if (!isAdmissionPluginName(plugin) && plugin !== 'NamespaceLifecycle')
      log.warn('admission plugin is not supported', { plugin })
  const defaults = defaultPlugins.filter((plugin) => !disablePlugins.includes(plugin))
  return { enablePlugins: [...new Set([...defaults, ...enabled.filter(isAdmissionPluginName)])], disablePlugins }
}

/** The default of kube-apiserver, not that of an Evenkeel server. */
function serviceRangesOf(flags: Flags): readonly string[] {
  const ranges = flags.values('service-cluster-ip-range')
  return ranges.length > 0 ? ranges : ['10.0.0.0/24']
}

function limitsOf(flags: Flags): LimitOptions {
  const [readsMax, writesMax, requestMs] = [
    countOf(flags, 'max-requests-inflight'),
    countOf(flags, 'max-mutating-requests-inflight'),
    durationOf(flags, 'request-timeout'),
  ]
  return { ...(readsMax && { readsMax }), ...(writesMax && { writesMax }), ...(requestMs && { requestMs }) }
}

function countOf(
  flags: Flags,
  name: string,
  { max = Number.MAX_SAFE_INTEGER }: { max?: number } = {},
): number | undefined {
  const text = flags.value(name)
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text) || Number(text) > max)
    throw new RangeError(`--${name} must be a whole number up to ${max}, got ${JSON.stringify(text)}`)
  return Number(text)
}

function durationOf(flags: Flags, name: string): number | undefined {
  const text = flags.value(name)
  if (text === undefined) return undefined
  const durationMs = parseDuration(text)
  if (durationMs === undefined || durationMs < 0)
    throw new RangeError(`--${name} must be a duration such as 1m0s, got ${JSON.stringify(text)}`)
  return Math.round(durationMs)
}

async function textsOf(flags: Flags, name: string): Promise<string[]> {
  return await Promise.all(flags.values(name).map((path) => readFile(path, 'utf8')))
}
