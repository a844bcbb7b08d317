/**
 * One owner per folder, tied to the life of the process: a killed owner is gone at once, a living
 * one is never robbed, and there is no waiting for a lock to grow stale.
 *
 * The lock is a listening socket in the folder. Whether its owner lives is asked of the kernel
 * (can it be connected to?), not of a file with a process number in it. To take it:
 *
 *   1. listen on a socket under a name of one's own
 *   2. if any `owner.N.sock` answers: somebody owns the folder
 *   3. link one's socket to `owner.(N+1).sock`, which only one can do
 *   4. if any other `owner.*.sock` answers now, give way and try again; else the folder is ours
 *
 * Invariant: of two processes at step 4, the later one sees the earlier one, because each listens
 * before it links and looks only after. Sockets, unlike locks on a network file system, work
 * between containers that share a folder; between machines they do not, and neither do we.
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

/** Takes the folder for this process. @throws StoreError `Locked` when another one lives in it. */
export async function lockFolder(
  folder: string,
  { clock, random }: { clock: Clock; random: Random },
): Promise<OwnerLock> {
  const handle = await fs.promises.open(folder, 'r')
  try {
    const server = await listenUnderOwnName(shortPath(folder, handle.fd), random)
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
    throw new StoreError('Locked', `${folder} is in use by another process: stop that one, or choose another folder`)
  } finally {
    await fs.promises.rm(path.join(base, own), { force: true })
  }
}

/** Step 4: looks at all others, and sweeps up after those that are gone. */
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

/** Socket paths are limited to about 100 bytes; on Linux an open folder has a short one. */
function shortPath(folder: string, descriptor: number): string {
  if (process.platform === 'linux') return `/proc/self/fd/${descriptor}`
  if (process.platform === 'win32')
    throw new StoreError(
      'Unusable',
      'the file store does not run on Windows yet, because it cannot lock its folder there: use WSL, or a memory or etcd store',
    )
  if (folder.length > 70)
    throw new StoreError(
      'Unusable',
      `the path ${folder} is too long for a lock (70 characters at most on this system): choose a shorter one`,
    )
  return folder
}

async function listenUnderOwnName(base: string, random: Random): Promise<{ server: net.Server; own: string }> {
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

/** Only a refused connection, or no socket at all, means that nobody is there; a full backlog means somebody busy is. */
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

/*
 * From a path to a folder that is ours: made if it is missing, writable, and locked.
 *
 * Invariant: every way this can fail is one line that names the folder and says what to do.
 */

/** @throws StoreError `Unusable` or `Locked`. */
export async function openFolder(
  folder: string,
  { clock, random }: { clock: Clock; random: Random },
): Promise<{ disk: Disk; release: () => Promise<void> }> {
  const absolute = path.resolve(folder)
  try {
    await fs.promises.mkdir(absolute, { recursive: true, mode: 0o700 })
    await fs.promises.access(absolute, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK)
    const lock = await lockFolder(absolute, { clock, random })
    return { disk: new NodeDisk(absolute), release: () => lock.release() }
  } catch (error) {
    if (isStoreError(error)) throw error
    throw new StoreError('Unusable', explain(absolute, error), { cause: error })
  }
}

function explain(folder: string, error: unknown): string {
  switch (codeOf(error)) {
    case 'EEXIST':
    case 'ENOTDIR':
      return `${folder} is not a folder: choose another path for the store`
    case 'EACCES':
    case 'EPERM':
      return `${folder} may not be written by this user: change its owner, or choose another folder`
    case 'EROFS':
      return `${folder} is on a read-only file system: mount it writable, or choose another folder`
    case 'ENOENT':
      return `${folder} could not be made: the folder above it is read-only or not there; choose another folder`
    case 'ENOSPC':
      return `the disk of ${folder} is full: free some room, or choose another folder`
    default:
      return `${folder} cannot be used for a store: ${error instanceof Error ? error.message : String(error)}`
  }
}
