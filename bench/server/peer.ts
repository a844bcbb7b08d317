/**
 * The kube-apiserver to compare with, started separately and configured by environment variables.
 *
 *   KUBE_APISERVER_URL, KUBE_APISERVER_TOKEN   its address and the token of an administrator
 *   KUBE_APISERVER_CA                          a file with the CA; without it any certificate is accepted
 *   KUBECONFIG                                 instead of these three, for a server on this machine; YAML is read by kubectl
 *   KUBE_APISERVER_PID, ETCD_PID               its processes on this machine, for CPU time and memory
 *   KUBE_APISERVER_START_MS                    how long both took until ready, measured by their start script
 *
 * Use a disposable server: the bench leaves namespaces `bench-*` full of objects. Memory is only reported for a server
 * that no earlier run has loaded.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Address } from './load/jobs.ts'
import { definition, definitionsPath } from './objects.ts'
import { rssBytesOf } from './process-usage.ts'
import { call, kindsOf } from './target.ts'
import type { Target } from './target.ts'

export interface Peer extends Target {
  readonly startMs: number | undefined
  /** Its memory before any write; undefined if an earlier run has written. */
  readonly idleRssBytes: number | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

/** Undefined when none is given. */
export async function findPeer(environment: Environment = process.env): Promise<Peer | undefined> {
  const address = addressFrom(environment)
  if (!address) return undefined
  const { status, body } = await call(address, 'GET', { path: '/version' })
  if (status !== 200) throw new Error(`the kube-apiserver at ${address.url} returns ${status} ${body}`)
  const { gitVersion = 'of unknown version' } = JSON.parse(body) as { gitVersion?: string }
  const processIds = [environment['KUBE_APISERVER_PID'], environment['ETCD_PID']].flatMap((id) =>
    id === undefined || id === '' ? [] : [Number(id)],
  )
  const startMs = Number(environment['KUBE_APISERVER_START_MS'] ?? NaN)
  const isFresh =
    (await call(address, 'GET', { path: `${definitionsPath}/${definition.metadata.name}` })).status === 404
  const idleRssBytes = isFresh ? rssBytesOf(processIds) : undefined
  return {
    name: `kube-apiserver ${gitVersion}`,
    address,
    processIds,
    idleRssBytes,
    kinds: await kindsOf(address),
    startMs: Number.isNaN(startMs) ? undefined : startMs,
  }
}

/** How to reach the peer, from the environment. */
export function addressFrom(environment: Environment): Address | undefined {
  const {
    KUBE_APISERVER_URL: url,
    KUBE_APISERVER_TOKEN: token,
    KUBE_APISERVER_CA: caFile,
    KUBECONFIG: kubeconfig,
  } = environment
  if (url !== undefined && url !== '') {
    if (token === undefined) throw new Error('KUBE_APISERVER_URL needs KUBE_APISERVER_TOKEN')
    return { url, token, ...(caFile !== undefined && caFile !== '' && { caPem: readFileSync(caFile, 'utf8') }) }
  }
  return kubeconfig === undefined || kubeconfig === '' ? undefined : onThisMachine(readKubeconfig(kubeconfig))
}

/** A kubeconfig may point to a cluster in real use, so one that is not local is ignored. */
function onThisMachine(address: Address): Address | undefined {
  if (/^(?:127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(new URL(address.url).hostname)) return address
  process.stderr.write(
    `KUBECONFIG names ${address.url}, which is not on this machine: set KUBE_APISERVER_URL to load it on purpose\n`,
  )
  return undefined
}

interface Kubeconfig {
  readonly 'current-context'?: string
  readonly contexts?: readonly { name: string; context: { cluster: string; user: string } }[]
  readonly clusters?: readonly {
    name: string
    cluster: { server: string; 'certificate-authority-data'?: string; 'certificate-authority'?: string }
  }[]
  readonly users?: readonly { name: string; user: { token?: string; tokenFile?: string } }[]
}

function readKubeconfig(file: string): Address {
  const config = parseKubeconfig(file)
  const context = config.contexts?.find(({ name }) => name === config['current-context'])?.context
  const cluster = config.clusters?.find(({ name }) => name === context?.cluster)?.cluster
  const user = config.users?.find(({ name }) => name === context?.user)?.user
  const beside = (name: string): string => readFileSync(path.resolve(path.dirname(file), name), 'utf8')
  const token = user?.token ?? (user?.tokenFile === undefined ? undefined : beside(user.tokenFile).trim())
  if (!cluster || token === undefined) throw new Error(`${file} must have a current context with a server and a token`)
  const { 'certificate-authority-data': data, 'certificate-authority': caFile } = cluster
  const caPem =
    data === undefined
      ? caFile === undefined
        ? undefined
        : beside(caFile)
      : Buffer.from(data, 'base64').toString('utf8')
  return { url: cluster.server, token, ...(caPem !== undefined && { caPem }) }
}

function parseKubeconfig(file: string): Kubeconfig {
  const text = readFileSync(file, 'utf8')
  if (text.trimStart().startsWith('{')) return JSON.parse(text) as Kubeconfig
  const { status, stdout, stderr } = spawnSync(
    'kubectl',
    ['config', 'view', '--raw', '--minify', '-o', 'json', '--kubeconfig', file],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`${file} is not JSON, and kubectl cannot read it: ${stderr ?? 'not installed'}`)
  return JSON.parse(stdout) as Kubeconfig
}
