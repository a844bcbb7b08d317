/**
 * From a path to a folder that is ours: made if it is missing, writable, and locked.
 *
 * Invariant: every way this can fail is one line that names the folder and says what to do.
 */
import fs from 'node:fs'
import path from 'node:path'
import type { Clock, Random } from '#base'
import { isStoreError, StoreError } from '../store-error.ts'
import { codeOf } from './disk/disk.ts'
import type { Disk } from './disk/disk.ts'
import { NodeDisk } from './disk/node-disk.ts'
import { lockFolder } from './owner-lock.ts'

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
