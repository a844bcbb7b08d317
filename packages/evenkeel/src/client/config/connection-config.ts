/**
 * Everything that is needed to reach one server as one user: what a context of a kubeconfig comes down to.
 */
import { checkDnsLabel } from '#api'
import type { ExecConfig } from '../auth/exec-config.ts'
import { ConfigError } from './config-error.ts'
import { readCluster, readContext, readUser } from './kubeconfig.ts'
import type { ClusterEntry, Impersonation, Kubeconfig, UserEntry } from './kubeconfig.ts'
import type { Field } from './field.ts'
import type { JsonValue } from '#api'

/** A text, or the file it is read from again and again. */
export type TextSource = { readonly text: string } | { readonly file: string }

export interface ConnectionConfig {
  /** Where this comes from, for people: `context "dev" of /home/me/.kube/config`. */
  readonly origin: string
  /** `https://10.0.0.1:6443` */
  readonly server: string
  /** Where objects live when nobody says so. */
  readonly namespace: string
  /** @default what the environment says */
  readonly proxyUrl?: string
  readonly ca?: TextSource
  /** The name that the certificate of the server must have. */
  readonly tlsServerName?: string
  readonly insecureSkipVerify?: boolean
  readonly cert?: TextSource
  readonly key?: TextSource
  readonly token?: TextSource
  readonly basic?: { readonly username: string; readonly password: string }
  readonly exec?: ExecConfig
  /** What exec plugins are told beside address and trust. */
  readonly execExtension?: JsonValue
  readonly impersonate?: Impersonation
}

/** The connection of a context. @throws {ConfigError} naming what is missing or wrong. */
export function connectionOf(config: Kubeconfig, { context }: { context?: string } = {}): ConnectionConfig {
  const where = config.files.join(', ')
  const name = context ?? config.currentContext
  if (name === '')
    throw new ConfigError(`${where}: current-context is not set: choose one of ${listOf(config.contexts)}`)
  const entry = config.contexts.get(name)
  if (!entry)
    throw new ConfigError(
      `${where}: there is no context ${JSON.stringify(name)}: choose one of ${listOf(config.contexts)}`,
    )
  const { cluster, user, namespace = 'default' } = readContext(entry)
  const complaints = checkDnsLabel(namespace)
  if (complaints.length > 0)
    throw new ConfigError(
      `${entry.where}.namespace ${JSON.stringify(namespace)} is no namespace: ${complaints.join('; ')}`,
    )
  const clusterField = pick(config.clusters, cluster, { entry, part: 'cluster' })
  const userField = user === '' ? undefined : pick(config.users, user, { entry, part: 'user' })
  return {
    origin: `context ${JSON.stringify(name)} of ${where}`,
    namespace,
    ...clusterPart(clusterField),
    ...(userField && userPart(userField)),
  }
}

function pick(
  entries: ReadonlyMap<string, Field>,
  name: string,
  { entry, part }: { entry: Field; part: string },
): Field {
  const found = entries.get(name)
  if (found) return found
  if (name === '') throw new ConfigError(`${entry.where}.${part} is missing`)
  throw new ConfigError(
    `${entry.where}.${part} names ${JSON.stringify(name)}, and there is no such ${part}: there is ${listOf(entries)}`,
  )
}

function clusterPart(
  field: Field,
): Pick<ConnectionConfig, 'server' | 'proxyUrl' | 'ca' | 'tlsServerName' | 'insecureSkipVerify' | 'execExtension'> {
  const cluster = readCluster(field)
  const ca = sourceOf(cluster.caData, cluster.caFile)
  if (cluster.insecureSkipVerify && ca)
    throw new ConfigError(
      `${field.where}: insecure-skip-tls-verify and certificate-authority exclude each other: remove one`,
    )
  if (cluster.proxyUrl !== undefined) checkProxy(cluster.proxyUrl, field)
  return {
    server: checkServer(cluster, field),
    ...(cluster.proxyUrl !== undefined && { proxyUrl: cluster.proxyUrl }),
    ...(ca && { ca }),
    ...(cluster.tlsServerName !== undefined && { tlsServerName: cluster.tlsServerName }),
    ...(cluster.insecureSkipVerify && { insecureSkipVerify: true }),
    ...(cluster.execExtension !== undefined && { execExtension: cluster.execExtension }),
  }
}

function userPart(field: Field): Pick<ConnectionConfig, 'cert' | 'key' | 'token' | 'basic' | 'exec' | 'impersonate'> {
  const user = readUser(field)
  const { username, password = '', exec, impersonate } = user
  const [cert, key, token] = [
    sourceOf(user.certData, user.certFile),
    sourceOf(user.keyData, user.keyFile),
    user.tokenFile === undefined ? sourceOf(user.token) : { file: user.tokenFile },
  ]
  checkUser(user, field)
  return {
    ...(cert && { cert }),
    ...(key && { key }),
    ...(token && { token }),
    ...(username !== undefined && { basic: { username, password } }),
    ...(exec && { exec }),
    ...(impersonate && { impersonate }),
  }
}

function checkUser(
  { authProvider, exec, certData, certFile, keyData, keyFile, token, tokenFile, username }: UserEntry,
  { where }: Field,
): void {
  if (authProvider !== undefined) {
    throw new ConfigError(
      `${where}.auth-provider ${JSON.stringify(authProvider)} is not supported: use a credential plugin (exec) of your provider, such as gke-gcloud-auth-plugin or kubelogin${exec ? ', and remove auth-provider' : ''}`,
    )
  }
  const [hasCert, hasKey] = [(certData ?? certFile) !== undefined, (keyData ?? keyFile) !== undefined]
  if (hasCert && !hasKey)
    throw new ConfigError(
      `${where}.client-key is missing: a client certificate needs its key (client-key or client-key-data)`,
    )
  if (hasKey && !hasCert)
    throw new ConfigError(
      `${where}.client-certificate is missing: a client key needs its certificate (client-certificate or client-certificate-data)`,
    )
  if ((token ?? tokenFile) !== undefined && username !== undefined)
    throw new ConfigError(`${where}: token and username exclude each other: remove one`)
}

/** Data in the file itself goes before a file that it names. */
function sourceOf(text: string | undefined, file?: string): TextSource | undefined {
  if (text !== undefined) return { text }
  return file === undefined ? undefined : { file }
}

function checkServer({ server, caData, caFile, insecureSkipVerify }: ClusterEntry, { where }: Field): string {
  if (server === '') throw new ConfigError(`${where}.server is missing: use an address such as https://10.0.0.1:6443`)
  const isSecure = (caData ?? caFile) !== undefined || insecureSkipVerify
  const address = server.includes('://') ? server : `${isSecure ? 'https' : 'http'}://${server}`
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address))
    throw new ConfigError(
      `${where}.server ${JSON.stringify(server)} is no address: use one such as https://10.0.0.1:6443`,
    )
  return address
}

function checkProxy(proxyUrl: string, { where }: Field): void {
  if (/^https?:\/\//i.test(proxyUrl) && URL.canParse(proxyUrl)) return
  const advice = /^socks/i.test(proxyUrl)
    ? 'SOCKS proxies are not supported: use an http one, or a tunnel (ssh -L)'
    : 'use an address such as http://proxy:3128'
  throw new ConfigError(`${where}.proxy-url ${JSON.stringify(proxyUrl)} cannot be used: ${advice}`)
}

function listOf(entries: ReadonlyMap<string, unknown>): string {
  return entries.size === 0
    ? 'none, because the file has none'
    : [...entries.keys()]
        .slice(0, 20)
        .map((name) => JSON.stringify(name))
        .join(', ')
}
