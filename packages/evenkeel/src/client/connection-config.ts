/**
 * Everything that is needed to reach one server as one user, and where to find it: the caller's choice, else
 * `KUBECONFIG`, else `~/.kube/config`, else the pod of the program. In a pod the address comes from the environment, the
 * rest from the files of the service account, which are renewed while the program runs.
 */
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import { checkDnsLabel, type JsonValue } from '#api'
import { ConfigError, type Field } from './config-field.ts'
import type { ExecConfig } from './exec-credential.ts'
import { systemHost, type Host } from './host.ts'
import {
  mergeKubeconfigs,
  parseKubeconfig,
  readCluster,
  readContext,
  readUser,
  type ClusterEntry,
  type Impersonation,
  type Kubeconfig,
  type UserEntry,
} from './kubeconfig.ts'

/** A text, or the file that it is read from, repeatedly. */
export type TextSource = { readonly text: string } | { readonly file: string }

export interface ConnectionConfig {
  /** The origin, for messages: `context "dev" of /home/me/.kube/config`. */
  readonly origin: string
  /** `https://10.0.0.1:6443` */
  readonly server: string
  /** The namespace of objects when none is given. */
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
  /** What exec plugins get beside address and trust. */
  readonly execExtension?: JsonValue
  readonly impersonate?: Impersonation
}

/** The connection of a context. @throws {ConfigError} naming what is missing or wrong. */
function connectionOf(config: Kubeconfig, { context }: { context?: string } = {}): ConnectionConfig {
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

/** Data in the kubeconfig takes precedence over a file that it names. */
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

export interface LoadConfigOptions {
  /** A kubeconfig file. @default see above */
  readonly kubeconfig?: string
  /** @default the file's current context */
  readonly context?: string
  /** @default this machine */
  readonly host?: Host
}

/** How to reach the cluster. @throws {ConfigError} when none is configured, or not properly. */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<ConnectionConfig> {
  const config = await findConfig(options)
  if (config) return config
  throw new ConfigError(
    'no cluster is configured: set KUBECONFIG, write ~/.kube/config, or run in a pod with a service account',
  )
}

/** The same; undefined when no cluster is configured. An invalid configuration is still an error. */
export async function findConfig({ kubeconfig, context, host = systemHost() }: LoadConfigOptions = {}): Promise<
  ConnectionConfig | undefined
> {
  const chosen = context === undefined ? {} : { context }
  if (kubeconfig !== undefined) return connectionOf(await readAll([kubeconfig], host, kubeconfig), chosen)
  const named = [...new Set((host.env['KUBECONFIG'] ?? '').split(host.pathDelimiter).filter((path) => path !== ''))]
  if (named.length > 0) return connectionOf(await readAll(named, host, 'KUBECONFIG'), chosen)
  const own = join(host.home, '.kube', 'config')
  const found = await readOne(own, host)
  // An empty file, as kubectl leaves it after the last cluster was deleted, counts as none.
  if (found && (found.contexts.size > 0 || context !== undefined)) return connectionOf(found, chosen)
  if (context !== undefined)
    throw new ConfigError(`there is no context ${JSON.stringify(context)}: ${own} does not exist`)
  return await inClusterConfig(host)
}

/** Missing files are ignored, unless all are missing. */
async function readAll(paths: readonly string[], host: Host, what: string): Promise<Kubeconfig> {
  const read = await Promise.all(paths.map((path) => readOne(path, host)))
  const found = read.filter((config) => config !== undefined)
  if (found.length > 0) return mergeKubeconfigs(found)
  throw new ConfigError(
    what === 'KUBECONFIG'
      ? `KUBECONFIG names ${paths.join(', ')}, which does not exist`
      : `the kubeconfig ${what} does not exist`,
  )
}

async function readOne(path: string, host: Host): Promise<Kubeconfig | undefined> {
  let text: string
  try {
    text = await host.readFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new ConfigError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
  return await parseKubeconfig(text, path)
}

const folder = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Undefined when this is no pod, or one without a service account. */
async function inClusterConfig(host: Pick<Host, 'env' | 'readFile'>): Promise<ConnectionConfig | undefined> {
  const [name, port] = [host.env['KUBERNETES_SERVICE_HOST'], host.env['KUBERNETES_SERVICE_PORT']]
  if (!name || !port) return undefined
  const [tokenFile, caFile] = [join(folder, 'token'), join(folder, 'ca.crt')]
  const hasToken = await host.readFile(tokenFile).then(
    () => true,
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
      throw new ConfigError(
        `the service account token ${tokenFile} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      )
    },
  )
  if (!hasToken) return undefined
  const namespace = await host.readFile(join(folder, 'namespace')).then(
    (text) => text.trim(),
    () => '',
  )
  return {
    origin: 'the service account of this pod',
    server: `https://${isIPv6(name) ? `[${name}]` : name}:${port}`,
    namespace: namespace || 'default',
    token: { file: tokenFile },
    ca: { file: caFile },
  }
}
