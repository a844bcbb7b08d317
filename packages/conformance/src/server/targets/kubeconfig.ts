/**
 * Reads the connection to a server from a kubeconfig. JSON is read directly; YAML is converted by kubectl.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

export interface Reach {
  readonly url: string
  readonly token?: string
  readonly ca?: string
  readonly certificate?: string
  readonly key?: string
}

interface Named {
  readonly name: string
}

interface Kubeconfig {
  readonly 'current-context': string
  readonly contexts: readonly (Named & { readonly context: { readonly cluster: string; readonly user: string } })[]
  readonly clusters: readonly (Named & { readonly cluster: Fields & { readonly server: string } })[]
  readonly users: readonly (Named & { readonly user: Fields & { readonly token?: string } })[]
}

type Fields = Readonly<Record<string, unknown>>

/** How to reach the server of the current context. */
export function readKubeconfig(file: string): Reach {
  const config = parse(file)
  const { cluster, user } = found(config.contexts, config['current-context']).context
  const server = found(config.clusters, cluster).cluster
  const account = found(config.users, user).user
  const folder = resolve(file, '..')
  const ca = pem(server, 'certificate-authority', folder)
  const certificate = pem(account, 'client-certificate', folder)
  const key = pem(account, 'client-key', folder)
  return {
    url: server.server,
    ...(account.token !== undefined && { token: account.token }),
    ...(ca && { ca }),
    ...(certificate && { certificate }),
    ...(key && { key }),
  }
}

function parse(file: string): Kubeconfig {
  const text = readFileSync(file, 'utf8')
  if (text.trimStart().startsWith('{')) return JSON.parse(text) as Kubeconfig
  const { error, status, stdout, stderr } = spawnSync(
    'kubectl',
    ['config', 'view', '--raw', '--minify', '-o', 'json', '--kubeconfig', file],
    { encoding: 'utf8' },
  )
  if (error || status !== 0)
    throw new Error(`${file} is YAML and kubectl cannot convert it to JSON: ${error?.message ?? stderr}`)
  return JSON.parse(stdout) as Kubeconfig
}

function found<T extends Named>(list: readonly T[], name: string): T {
  const one = list.find((candidate) => candidate.name === name)
  if (!one) throw new Error(`the kubeconfig refers to ${JSON.stringify(name)} but has no such entry`)
  return one
}

/** Inline in base64, or in a file next to the kubeconfig. */
function pem(fields: Fields, name: string, folder: string): string | undefined {
  const inline = fields[`${name}-data`]
  if (typeof inline === 'string') return Buffer.from(inline, 'base64').toString('utf8')
  const file = fields[name]
  return typeof file === 'string' ? readFileSync(resolve(folder, file), 'utf8') : undefined
}
