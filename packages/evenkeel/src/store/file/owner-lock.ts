/**
 * The lock of a store folder: one owner per folder, tied to the life of its process. A killed owner
 * releases it at once, a live owner never loses it, and there is no stale lock to wait for.
 *
 * The lock is a listening socket in the folder. Whether its owner is alive is decided by the kernel
 * (does the socket accept a connection?), not by a file with a process id. To take the lock:
 *
 *   1. listen on a socket with a unique name
 *   2. if any `owner.N.sock` accepts a connection, another process owns the folder
 *   3. link the socket to `owner.(N+1).sock`, which only one process can do
 *   4. if any other `owner.*.sock` accepts a connection now, unlink and retry; otherwise own the folder
 *
 * Example. `owner.3.sock` belongs to a killed process; P and Q start at the same time:
 *
 *   P and Q   connect to owner.3.sock: refused, its owner is dead
 *   P         links owner.4.sock; Q fails to link owner.4.sock and starts over
 *   P         sees no other live owner, removes owner.3.sock, owns the folder
 *   Q         connects to owner.4.sock: accepted, so the folder is locked
 *
 * Invariants: of two processes at step 4, the later one sees the earlier one, because each listens
 * before it links and checks only after that. Every failure is one line that names the folder and
 * says what to do. Sockets, unlike file locks on a network file system, work between containers
 * that share a folder; they do not work between machines, which is not supported.
 */
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { randomInt, sleep, type Clock, type Random } from '#base'
import { isStoreError, StoreError } from '../store.ts'
import { codeOf, NodeDisk, type Disk } from './disk.ts'

interface OwnerLock {
  release(): Promise<void>
}

const attempts = 5

/** Locks the folder for this process. @throws StoreError `Locked` when another process owns it. */
export async function lockFolder(
  folder: string,
  { clock, random }: { clock: Clock; random: Random },
): Promise<OwnerLock> {
  const handle = await fs.promises.open(folder, 'r')
  try {
    const server = await listenOnUniqueName(shortPath(folder, handle.fd), random)
    try {
      return await claim(folder, { ...server, base: shortPath(folder, handle.fd), handle }, { clock, random })
    } catch (error) {
      await stop(server.server)
      throw error
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

interface Claim {
  readonly base: string
  readonly handle: fs.promises.FileHandle
  readonly server: net.Server
  readonly own: string
}

async function claim(
  folder: string,
  { base, handle, server, own }: Claim,
  { clock, random }: { clock: Clock; random: Random },
): Promise<OwnerLock> {
  try {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const owners = ownersIn(await fs.promises.readdir(folder))
      if (await anyAlive(base, owners)) break
      const number = Math.max(0, ...owners) + 1
      if (!(await link(path.join(base, own), path.join(base, ownerName(number))))) continue
      if (await isAlone(folder, { base, number }))
        return { release: () => release({ base, handle, server, own: ownerName(number) }) }
      await fs.promises.rm(path.join(base, ownerName(number)), { force: true })
      await sleep(clock, 1 + randomInt(random, 20))
    }
    throw new StoreError('Locked', `${folder} is in use by another process: stop that process or choose another folder`)
  } finally {
    await fs.promises.rm(path.join(base, own), { force: true })
  }
}

/** Step 4: checks all other owners, and removes the sockets of dead ones. */
async function isAlone(folder: string, { base, number }: { base: string; number: number }): Promise<boolean> {
  const rivals = ownersIn(await fs.promises.readdir(folder)).filter((other) => other !== number)
  if (await anyAlive(base, rivals)) return false
  await Promise.all(rivals.map((rival) => fs.promises.rm(path.join(base, ownerName(rival)), { force: true })))
  return true
}

async function release({ base, handle, server, own }: Claim): Promise<void> {
  await fs.promises.rm(path.join(base, own), { force: true })
  await stop(server)
  await handle.close()
}

const openFiles = '/proc/self/fd'

/** Socket paths are limited to about 100 bytes; on Linux an open folder has a short path, unless /proc is not mounted. */
function shortPath(folder: string, descriptor: number): string {
  if (process.platform === 'linux' && fs.existsSync(openFiles)) return `${openFiles}/${descriptor}`
  if (process.platform === 'win32')
    throw new StoreError(
      'Unusable',
      'the file store does not support Windows, because it cannot lock its folder there: use WSL, or a memory or etcd store',
    )
  if (folder.length > 70)
    throw new StoreError(
      'Unusable',
      `cannot lock ${folder}: the path is longer than 70 characters, the limit on this system; choose a shorter path`,
    )
  return folder
}

async function listenOnUniqueName(base: string, random: Random): Promise<{ server: net.Server; own: string }> {
  const own = `owner.new.${random.uint32().toString(36)}${random.uint32().toString(36)}.sock`
  const server = net.createServer((socket) => {
    socket.destroy()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path.join(base, own), resolve)
  })
  server.unref()
  return { server, own }
}

function ownersIn(names: readonly string[]): number[] {
  return names.flatMap((name) => {
    const match = /^owner\.(\d+)\.sock$/.exec(name)
    return match ? [Number(match[1])] : []
  })
}

function ownerName(number: number): string {
  return `owner.${number}.sock`
}

async function anyAlive(base: string, owners: readonly number[]): Promise<boolean> {
  const alive = await Promise.all(owners.map((number) => isAlive(path.join(base, ownerName(number)))))
  return alive.includes(true)
}

/** Only a refused connection or a missing socket means that the owner is dead; any other error, such as a full backlog, means that it is alive. */
function isAlive(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(socketPath)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (error) => {
      resolve(!['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? ''))
    })
  })
}

/** True when the name was free. */
async function link(from: string, to: string): Promise<boolean> {
  try {
    await fs.promises.link(from, to)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') return false
    throw error
  }
}

function stop(server: net.Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve()
    })
  })
}

/** Creates the folder if it is missing, checks its permissions and locks it. @throws StoreError `Unusable` or `Locked`. */
export async function openFolder(
  folder: string,
  { clock, random }: { clock: Clock; random: Random },
): Promise<{ disk: Disk; release: () => Promise<void> }> {
  const absolute = path.resolve(folder)
  try {
    await fs.promises.mkdir(absolute, { recursive: true, mode: 0o700 })
    await fs.promises.access(absolute, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK)
    await checkFolderAccess(absolute)
    const lock = await lockFolder(absolute, { clock, random })
    return { disk: new NodeDisk(absolute), release: () => lock.release() }
  } catch (error) {
    if (isStoreError(error)) throw error
    throw new StoreError('Unusable', explain(absolute, error), { cause: error })
  }
}

/**
 * Refuses a folder whose content other users can replace. Root may use the folder of another user, as containers do with
 * a mounted one.
 *
 * @throws StoreError `Unusable`
 */
export async function checkFolderAccess(folder: string): Promise<void> {
  const ours = process.getuid?.()
  // Windows has neither owner nor mode here.
  if (ours === undefined) return
  const { uid, mode } = await fs.promises.stat(folder)
  if (uid !== ours && ours !== 0)
    throw new StoreError('Unusable', `${folder} belongs to user ${uid}: choose a folder of user ${ours}`)
  if ((mode & 0o022) === 0) return
  throw new StoreError(
    'Unusable',
    `other users can write to ${folder} (mode ${(mode & 0o777).toString(8).padStart(4, '0')}): run chmod go-w ${folder}, or choose a folder inside it`,
  )
}

function explain(folder: string, error: unknown): string {
  switch (codeOf(error)) {
    case 'EEXIST':
    case 'ENOTDIR':
      return `${folder} is not a folder: choose another path for the store`
    case 'EACCES':
    case 'EPERM':
      return `${folder} is not writable for this user: change its owner or choose another folder`
    case 'EROFS':
      return `${folder} is on a read-only file system: mount it writable or choose another folder`
    case 'ENOENT':
      return `cannot create ${folder}: the parent folder is read-only or does not exist; choose another folder`
    case 'ENOSPC':
      return `the disk of ${folder} is full: free some space or choose another folder`
    default:
      return `${folder} cannot be used for a store: ${error instanceof Error ? error.message : String(error)}`
  }
}
