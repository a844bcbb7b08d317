/**
 * From a configuration to a client: credentials, certificates, proxy and connections.
 *
 * A text of the configuration may be in a file: it is read when it is needed, and again after a minute, because
 * certificates are renewed.
 */
import type { JsonObject } from '#api'
import { SystemClock, type Clock } from '#base'
import type { Transport } from '#wire'
import { Client } from './client.ts'
import { ConfigError } from './config-field.ts'
import { loadConfig, type ConnectionConfig, type LoadConfigOptions, type TextSource } from './connection-config.ts'
import type { ClientOptions } from './core.ts'
import { basic, bearer, fixedCredential, tokenFile, withCredentials, type CredentialSource } from './credentials.ts'
import { execCredential } from './exec-credential.ts'
import { systemHost, type Host } from './host.ts'
import type { Impersonation } from './kubeconfig.ts'
import { httpTransport, proxyFromEnvironment, type HttpConnection, type TlsMaterial } from './transport.ts'

export interface ConnectOptions extends Omit<ClientOptions, 'transport' | 'close'>, LoadConfigOptions {
  /** @default what `loadConfig` finds */
  readonly config?: ConnectionConfig
}

/**
 * A client of the configured cluster. Nothing is sent yet: an unreachable server fails the first request.
 *
 * @throws {ConfigError} when no cluster is configured, or not properly.
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const { config = await loadConfig(options), host, clock } = options
  const { transport, close } = openConnection(config, { ...(host && { host }), ...(clock && { clock }) })
  return new Client({ namespace: config.namespace, ...options, transport, close })
}

interface OpenConnectionOptions {
  /** @default this machine */
  readonly host?: Host
  /** @default the system's */
  readonly clock?: Clock
}

/** A connection and its credentials. */
interface OpenedConnection extends HttpConnection {
  /** For other connections of the same user: an exec plugin may have to ask a person. */
  readonly credentials: CredentialSource
}

/** The transport of a configuration, with TLS and credentials. */
export function openConnection(
  config: ConnectionConfig,
  { host = systemHost(), clock = new SystemClock() }: OpenConnectionOptions = {},
): OpenedConnection {
  const seams = { host, clock }
  const credentials = credentialsOf(config, seams)
  const proxyUrl = config.proxyUrl ?? proxyFromEnvironment(config.server, host.env)
  const { transport, close } = httpTransport({
    server: config.server,
    tls: tlsOf(config, credentials, seams),
    headers: impersonationHeaders(config.impersonate),
    ...(proxyUrl !== undefined && { proxyUrl }),
  })
  const signed: Transport = withCredentials(transport, credentials)
  return { transport: signed, close, credentials }
}

interface Seams {
  readonly host: Host
  readonly clock: Clock
}

function credentialsOf(config: ConnectionConfig, { host, clock }: Seams): CredentialSource {
  const { token, basic: pair, exec } = config
  if (token)
    return 'file' in token
      ? tokenFile(token.file, { clock, readFile: (path) => host.readFile(path) })
      : fixedCredential(bearer(token.text))
  if (pair) return fixedCredential(basic(pair.username, pair.password))
  if (!exec) return fixedCredential({})
  const caText = textReader(config.ca, { host, clock, what: 'certificate-authority' })
  return execCredential(exec, { host, clock, cluster: async () => clusterInfo(config, await caText()) })
}

function clusterInfo(
  { server, tlsServerName, insecureSkipVerify, proxyUrl, execExtension }: ConnectionConfig,
  caPem: string | undefined,
): JsonObject {
  return {
    server,
    ...(tlsServerName !== undefined && { 'tls-server-name': tlsServerName }),
    ...(insecureSkipVerify && { 'insecure-skip-tls-verify': true }),
    ...(caPem !== undefined && { 'certificate-authority-data': Buffer.from(caPem).toString('base64') }),
    ...(proxyUrl !== undefined && { 'proxy-url': proxyUrl }),
    ...(execExtension !== undefined && { config: execExtension }),
  }
}

/** The same object as long as nothing changed, so that connections are kept. */
function tlsOf(config: ConnectionConfig, credentials: CredentialSource, seams: Seams): () => Promise<TlsMaterial> {
  const readers = [
    textReader(config.ca, { ...seams, what: 'certificate-authority' }),
    textReader(config.cert, { ...seams, what: 'client-certificate' }),
    textReader(config.key, { ...seams, what: 'client-key' }),
  ]
  let known: TlsMaterial | undefined
  return async () => {
    const [caPem, fileCert, fileKey] = await Promise.all(readers.map((read) => read()))
    const { certPem = fileCert, keyPem = fileKey } = config.exec ? await credentials.get() : {}
    if (known && known.caPem === caPem && known.certPem === certPem && known.keyPem === keyPem) return known
    known = {
      ...(caPem !== undefined && { caPem }),
      ...(certPem !== undefined && { certPem }),
      ...(keyPem !== undefined && { keyPem }),
      ...(config.tlsServerName !== undefined && { serverName: config.tlsServerName }),
      ...(config.insecureSkipVerify && { insecureSkipVerify: true }),
    }
    return known
  }
}

function impersonationHeaders(impersonate: Impersonation | undefined): Record<string, string | readonly string[]> {
  if (!impersonate) return {}
  const { user, uid, groups = [], extra = {} } = impersonate
  return {
    'impersonate-user': user,
    ...(uid !== undefined && { 'impersonate-uid': uid }),
    ...(groups.length > 0 && { 'impersonate-group': groups }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [
        `impersonate-extra-${encodeURIComponent(key).toLowerCase()}`,
        values,
      ]),
    ),
  }
}

interface TextReaderOptions {
  readonly host: Pick<Host, 'readFile'>
  readonly clock: Clock
  /** The field, for messages: `certificate-authority`. */
  readonly what: string
  /** @default 60_000 */
  readonly rereadMs?: number
}

/** The current text. While a file that was read once cannot be read, its last text is used. */
function textReader(
  source: TextSource | undefined,
  { host, clock, what, rereadMs = 60_000 }: TextReaderOptions,
): () => Promise<string | undefined> {
  if (source === undefined || 'text' in source) return () => Promise.resolve(source?.text)
  let known: string | undefined
  let readAtMs = -Infinity
  return async () => {
    if (known !== undefined && clock.monotonic() - readAtMs < rereadMs) return known
    readAtMs = clock.monotonic()
    try {
      known = await host.readFile(source.file)
    } catch (cause) {
      if (known === undefined)
        throw new ConfigError(
          `${what} ${source.file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
          { cause },
        )
    }
    return known
  }
}
