/**
 * `openDataPlane`: a control plane on a data folder. `evenkeel serve`, `run` and embedders all open it here.
 *
 *   FOLDER/store/       objects, unless they are kept in memory
 *   FOLDER/identity/    the CA, the certificates and the token; only the owner can read them
 *   FOLDER/kubeconfig   for kubectl and every other client
 *   FOLDER/audit.log    if asked for
 *
 * Invariant: what opens is closed again, in reverse order, also when opening fails half-way. Without a folder everything
 * lives in a temporary one, which `stop` removes.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { assert, SystemClock, SystemRandom, type Clock, type Random } from '#base'
import { ensureClient, ensureIdentity, issueClient, makeIdentity, writeKubeconfig, type Identity } from '#server'
import { checkFolderAccess, openFileStore, openMemoryStore, type Store } from '#store'
import type { CertificateKeyPair } from '#wire'
import { startPlane, type Plane, type PlaneOptions } from './plane.ts'

type PassedOn =
  | 'kinds'
  | 'customResources'
  | 'routes'
  | 'clock'
  | 'random'
  | 'log'
  | 'controllers'
  | 'controllersDelayMs'
  | 'authentication'
  | 'authorization'
  | 'admission'
  | 'featureGates'
  | 'proxyClient'
  | 'limits'
  | 'webhooks'
  | 'serviceClusterIpRanges'

export interface DataPlaneOptions extends Pick<PlaneOptions, PassedOn> {
  /** @default a temporary folder, removed by `stop` */
  readonly folder?: string | undefined
  /** Keep objects in memory; identity and kubeconfig stay in the folder. @default true without a folder, false with one */
  readonly memory?: boolean | undefined
  /** The port to listen on; 0 takes a free one. @default 0 */
  readonly port?: number | undefined
  /** The address to bind. Any other than loopback accepts requests from other machines. @default '127.0.0.1' */
  readonly host?: string | undefined
  /** Further names and addresses of the server, for its certificate and for `Host`. @default none */
  readonly names?: readonly string[] | undefined
  /** Write who changed what into `audit.log` in the folder. @default false */
  readonly audit?: boolean | undefined
}

export interface DataPlane {
  readonly plane: Plane
  readonly url: string
  readonly folder: string
  /** The path of a kubeconfig with the address, the CA and the token. */
  readonly kubeconfig: string
  /** Whether objects outlive the process. */
  readonly isDurable: boolean
  stop(): Promise<void>
}

/**
 * Opens a data folder and serves it over TLS on the loopback address.
 *
 * @example
 * const { kubeconfig, stop } = await openDataPlane({ folder: './data', port: 6443 })
 */
export async function openDataPlane(options: DataPlaneOptions = {}): Promise<DataPlane> {
  const { folder: given } = options
  const folder = given === undefined ? await mkdtemp(join(tmpdir(), 'evenkeel-')) : resolve(given)
  const removeTemporary = async (): Promise<void> => {
    if (given === undefined) await rm(folder, { recursive: true, force: true })
  }
  try {
    const opened = await openFolder(folder, options)
    return {
      ...opened,
      async stop() {
        await opened.stop()
        await removeTemporary()
      },
    }
  } catch (error) {
    await removeTemporary()
    throw error
  }
}

async function openFolder(folder: string, options: DataPlaneOptions): Promise<DataPlane> {
  const { memory = options.folder === undefined, clock = new SystemClock() } = options
  const made = await mkdir(folder, { recursive: true, mode: 0o700 })
  await checkFolderAccess(folder)
  // Keys and tokens must not be committed by accident.
  if (made !== undefined) await writeFile(join(folder, '.gitignore'), '*\n', { flag: 'wx' }).catch(() => undefined)
  const store = memory ? openMemoryStore({ clock }) : await openFileStore(join(folder, 'store'))
  try {
    const { plane, client } = await startOn(store, folder, options)
    const kubeconfig = join(folder, 'kubeconfig')
    const stop = async (): Promise<void> => {
      await plane.stop()
      await store.close()
    }
    try {
      const { address } = plane
      assert(address, 'the plane listens')
      const { token, caPem } = address
      const url = reachable(address.url)
      await writeKubeconfig(kubeconfig, { server: url, token, client, ...(caPem !== undefined && { caPem }) })
      return { plane, url, folder, kubeconfig, isDurable: !memory, stop }
    } catch (error) {
      await plane.stop()
      throw error
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

async function startOn(
  store: Store,
  folder: string,
  { port = 0, host, names = [], audit = false, folder: given, memory: _, ...passedOn }: DataPlaneOptions,
): Promise<{ plane: Plane; client: CertificateKeyPair }> {
  const { clock = new SystemClock(), random = new SystemRandom() } = passedOn
  const called = [...names, ...(host === undefined || isWildcard(host) ? [] : [host])]
  // Keys in a temporary folder are not needed later, so they are never written to a disk.
  const keys = given === undefined ? undefined : join(folder, 'identity')
  const made = { clock, random, names: called }
  const identity = keys === undefined ? makeIdentity(made) : await ensureIdentity(keys, made)
  // The key of the administrator is made on another thread while the plane starts.
  const [started, issued] = await Promise.allSettled([
    startPlane({
      ...passedOn,
      clock,
      random,
      store,
      listen: { port, identity, names, ...(host !== undefined && { host }) },
      ...(audit && { audit: { file: { path: join(folder, 'audit.log') } } }),
    }),
    administratorOf(identity, { keys, clock, random }),
  ])
  if (started.status === 'rejected') throw started.reason
  if (issued.status === 'fulfilled') return { plane: started.value, client: issued.value }
  await started.value.stop()
  throw issued.reason
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/** The address for clients of this machine: a server that listens on all addresses is also on loopback. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}

/** As long as the token, which does not expire: a client that shows both must not be refused for one of them. */
const certificateMs = 10 * 365 * 86_400_000

/** A client certificate of the same user as the token, for clients that know no tokens. */
function administratorOf(
  { authority }: Identity,
  { keys, clock, random }: { keys: string | undefined; clock: Clock; random: Random },
): Promise<CertificateKeyPair> {
  const wanted = { user: 'evenkeel-admin', groups: ['system:masters'], validMs: certificateMs, clock, random }
  if (keys === undefined) return issueClient({ authority }, wanted)
  return ensureClient(join(keys, 'administrator.pem'), { authority, ...wanted })
}
