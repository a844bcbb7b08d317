/**
 * Kubeconfig files as data, with everything that is relative to a file made absolute.
 *
 * An entry is checked when it is chosen, as in kubectl: a mistake in the user of another cluster does not matter. Unknown
 * fields are ignored; fields of the wrong type are errors that name file and field. When files are merged, the first file
 * that has a cluster, user or context of some name wins.
 */
import { dirname, isAbsolute, resolve } from 'node:path'
import { isApiError, isJsonObject, type JsonObject, type JsonValue } from '#api'
import { readYaml } from '#wire'
import { ConfigError, Field } from './config-field.ts'
import { readExec, type ExecConfig } from './exec-credential.ts'

export interface ClusterEntry {
  readonly server: string
  readonly caData?: string
  readonly caFile?: string
  readonly tlsServerName?: string
  readonly insecureSkipVerify: boolean
  readonly proxyUrl?: string
  readonly disableCompression: boolean
  /** What the cluster tells exec plugins, from its extensions. */
  readonly execExtension?: JsonValue
}

export interface UserEntry {
  readonly certData?: string
  readonly certFile?: string
  readonly keyData?: string
  readonly keyFile?: string
  readonly token?: string
  readonly tokenFile?: string
  readonly username?: string
  readonly password?: string
  readonly exec?: ExecConfig
  readonly authProvider?: string
  readonly impersonate?: Impersonation
}

/** The user to impersonate. */
export interface Impersonation {
  readonly user: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

interface ContextEntry {
  readonly cluster: string
  readonly user: string
  readonly namespace?: string
}

export interface Kubeconfig {
  readonly files: readonly string[]
  readonly currentContext: string
  readonly clusters: ReadonlyMap<string, Field>
  readonly users: ReadonlyMap<string, Field>
  readonly contexts: ReadonlyMap<string, Field>
}

/** Reads the text of one file. @throws {ConfigError} naming file and field. */
export async function parseKubeconfig(text: string, file: string): Promise<Kubeconfig> {
  const root = new Field(await readDocument(text, file), { file })
  const kind = root.text('kind')
  if (kind !== undefined && kind !== 'Config')
    throw new ConfigError(`${file}: kind is ${JSON.stringify(kind)} and not Config: this is no kubeconfig`)
  return {
    files: [file],
    currentContext: root.text('current-context') ?? '',
    clusters: entries(root, 'clusters', 'cluster'),
    users: entries(root, 'users', 'user'),
    contexts: entries(root, 'contexts', 'context'),
  }
}

/** Several files as one; earlier ones win, entry by entry. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merged = (pick: (config: Kubeconfig) => ReadonlyMap<string, Field>): Map<string, Field> =>
    new Map(configs.toReversed().flatMap((config) => [...pick(config)]))
  return {
    files: configs.flatMap(({ files }) => files),
    currentContext: configs.find(({ currentContext }) => currentContext !== '')?.currentContext ?? '',
    clusters: merged(({ clusters }) => clusters),
    users: merged(({ users }) => users),
    contexts: merged(({ contexts }) => contexts),
  }
}

async function readDocument(text: string, file: string): Promise<JsonObject> {
  try {
    const { value } = await readYaml(text)
    if (value === null) return {}
    if (isJsonObject(value)) return value
  } catch (cause) {
    throw new ConfigError(`${file} cannot be read as YAML: ${isApiError(cause) ? cause.message : String(cause)}`, {
      cause,
    })
  }
  throw new ConfigError(`${file} is no kubeconfig: it must be an object with clusters, users and contexts`)
}

/** Named entries; of two with one name the last counts, as in kubectl. */
function entries(root: Field, name: string, inner: string): Map<string, Field> {
  return new Map(
    root.list(name).map((item) => {
      const key = item.text('name')
      if (!key) throw new ConfigError(`${item.where}.name is missing`)
      return [key, item.object(inner)]
    }),
  )
}

export function readCluster(field: Field): ClusterEntry {
  const { file } = field
  const extension = field.list('extensions').find((item) => item.text('name') === 'client.authentication.k8s.io/exec')
    ?.value['extension']
  return {
    server: field.text('server') ?? '',
    insecureSkipVerify: field.flag('insecure-skip-tls-verify'),
    disableCompression: field.flag('disable-compression'),
    ...optional('caData', field.base64('certificate-authority-data')),
    ...optional('caFile', beside(file, field.text('certificate-authority'))),
    ...optional('tlsServerName', field.text('tls-server-name')),
    ...optional('proxyUrl', field.text('proxy-url')),
    ...optional('execExtension', extension),
  }
}

export function readUser(field: Field): UserEntry {
  const { file } = field
  const exec = field.value['exec'] === undefined ? undefined : readExec(field.object('exec'))
  const authProvider =
    field.value['auth-provider'] === undefined ? undefined : (field.object('auth-provider').text('name') ?? '')
  return {
    ...optional('certData', field.base64('client-certificate-data')),
    ...optional('certFile', beside(file, field.text('client-certificate'))),
    ...optional('keyData', field.base64('client-key-data')),
    ...optional('keyFile', beside(file, field.text('client-key'))),
    ...optional('token', field.text('token')),
    ...optional('tokenFile', beside(file, field.text('tokenFile'))),
    ...optional('username', field.text('username')),
    ...optional('password', field.text('password')),
    ...optional('exec', exec),
    ...optional('authProvider', authProvider),
    ...optional('impersonate', readImpersonation(field)),
  }
}

function readImpersonation(field: Field): Impersonation | undefined {
  const [user, uid, groups] = [field.text('as'), field.text('as-uid'), field.texts('as-groups')]
  const extraField = field.value['as-user-extra'] === undefined ? undefined : field.object('as-user-extra')
  if (user === undefined) {
    if (uid !== undefined || groups.length > 0 || extraField)
      throw new ConfigError(`${field.where}.as is missing: uid, groups and extra can be taken on with a user only`)
    return undefined
  }
  const extra =
    extraField && Object.fromEntries(Object.keys(extraField.value).map((key) => [key, extraField.texts(key)]))
  return { user, ...optional('uid', uid), ...(groups.length > 0 && { groups }), ...optional('extra', extra) }
}

export function readContext(field: Field): ContextEntry {
  return {
    cluster: field.text('cluster') ?? '',
    user: field.text('user') ?? '',
    ...optional('namespace', field.text('namespace')),
  }
}

/** Paths in a kubeconfig are relative to its folder. */
function beside(file: string, path: string | undefined): string | undefined {
  return path === undefined || isAbsolute(path) ? path : resolve(dirname(file), path)
}

function optional<Name extends string, T>(name: Name, value: T | undefined): { readonly [Key in Name]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [Key in Name]?: T }
}
