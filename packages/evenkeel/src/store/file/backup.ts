/**
 * Backups (`snapshot save` and `snapshot restore`): the contents of a store in one file.
 *
 * Invariants: a backup gets its name only when it is complete; a restore needs an empty folder, and
 * its revisions continue far above those of the backup, with all older ones refused, because
 * clients may have seen revisions that are newer than the backup.
 *
 * Example. The backup is of revision 500. Clients have seen up to 620 since then. The restored
 * store starts at 1 000 000 500: a client that resumes a watch at 620 gets `compacted` and lists
 * again, instead of missing changes.
 */
import path from 'node:path'
import { SystemClock, SystemRandom, type Clock, type Random } from '#base'
import { StoreError } from '../store.ts'
import { codeOf, NodeDisk, type Disk } from './disk.ts'
import type { FileStore } from './file-store.ts'
import { fileName } from './folder.ts'
import { LogFile } from './log-file.ts'
import { openFolder } from './owner-lock.ts'
import { recoverBackup } from './recovery.ts'
import { writeSnapshot } from './snapshot.ts'

/** Writes the contents of an open store to one new file. The store keeps serving. */
export async function saveBackup(store: FileStore, file: string): Promise<{ bytes: number; revision: number }> {
  const absolute = path.resolve(file)
  try {
    return await store.backup(new NodeDisk(path.dirname(absolute)), path.basename(absolute))
  } catch (error) {
    throw explained(`cannot write backup ${absolute}`, error)
  }
}

interface RestoreOptions {
  /**
   * How far the restored store continues above the revision of the backup.
   *
   * @default 1_000_000_000
   */
  bumpRevisions?: number
  clock?: Clock
  random?: Random
}

/** Restores a backup into a folder that is empty or does not exist. Returns the revision the store starts from. */
export async function restoreBackup(
  file: string,
  folder: string,
  { bumpRevisions = 1_000_000_000, clock = new SystemClock(), random = new SystemRandom() }: RestoreOptions = {},
): Promise<{ entries: number; revision: number }> {
  if (!(bumpRevisions >= 0)) throw new RangeError(`bumpRevisions must be 0 or more, got ${bumpRevisions}`)
  const absolute = path.resolve(file)
  try {
    const backup = await recoverBackup(new NodeDisk(path.dirname(absolute)), path.basename(absolute))
    const { disk, release } = await openFolder(folder, { clock, random })
    try {
      const taken = (await disk.list()).find((name) => !name.startsWith('owner.'))
      if (taken !== undefined)
        throw new StoreError('Unusable', `${disk.label} is not empty (it contains ${taken}): restore into a new folder`)
      return await fill(disk, { ...backup, bumpRevisions, clock })
    } finally {
      await release()
    }
  } catch (error) {
    throw explained(`cannot restore ${absolute}`, error)
  }
}

/** Creates the log before the snapshot: a snapshot without its log counts as damaged. */
async function fill(
  disk: Disk,
  {
    versions,
    leases,
    storeId = '',
    revision,
    bumpRevisions,
    clock,
  }: Awaited<ReturnType<typeof recoverBackup>> & { bumpRevisions: number; clock: Clock },
): Promise<{ entries: number; revision: number }> {
  const bumped = revision + bumpRevisions
  versions.publish([], bumped)
  const log = await LogFile.create(disk, { kind: 'log', storeId, number: 1, revision: bumped })
  await log.close()
  const name = fileName('snapshot', 1)
  await writeSnapshot(
    { versions, clock, leases: () => leases, ceiling: () => bumped },
    { disk, temporary: name.replace(/ek$/, 'tmp'), name, header: { kind: 'snapshot', storeId, number: 1 } },
  )
  return { entries: versions.size, revision: bumped }
}

function explained(what: string, error: unknown): unknown {
  if (error instanceof StoreError || error instanceof RangeError) return error
  const code = codeOf(error)
  const why =
    code === 'ENOENT'
      ? 'no such file or folder'
      : code === 'EEXIST'
        ? 'the file exists; choose another name'
        : error instanceof Error
          ? error.message
          : String(error)
  return new StoreError('Unusable', `${what}: ${why}`, { cause: error })
}
