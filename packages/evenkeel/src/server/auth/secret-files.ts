/**
 * Secret files: readable for their owner only, and written atomically.
 *
 * Invariants: a file gets its name only after its bytes are on the disk; links are never followed; a file or folder
 * that other users could have read or changed is refused, because its content is no longer secret.
 */
import { constants } from 'node:fs'
import type { Stats } from 'node:fs'
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** A problem with the files of an identity that needs an administrator. */
export class IdentityError extends Error {
  override readonly name = 'IdentityError'
}

/** Creates a missing folder, for its owner only. */
export async function ensureSecretFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const stats = await lstat(folder)
  if (!stats.isDirectory()) throw new IdentityError(`${folder} is not a folder: give a path where one can be made`)
  checkOwner(folder, stats, 'chmod 700')
}

/** The text of a file, `undefined` when there is none. */
export async function readSecretFile(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new IdentityError(
      `cannot read ${path}: ${codeOf(error) === 'ELOOP' ? 'it is a link, and links are not followed' : String(error)}`,
      { cause: error },
    )
  })
  if (!file) return undefined
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new IdentityError(`${path} is not a file: remove it`)
    checkOwner(path, stats, 'chmod 600')
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** Writes a text to a file, and replaces an existing one. */
export async function writeSecretFile(path: string, text: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.new`)
  await rm(temporary, { force: true })
  const file = await open(temporary, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  await syncFolder(dirname(path))
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function checkOwner(path: string, { mode, uid }: Stats, remedy: string): void {
  const ours = process.getuid?.()
  if (ours === undefined) return
  if (uid !== ours)
    throw new IdentityError(
      `${path} is owned by user ${uid}, not by the current user ${ours}: choose another folder, or change its owner`,
    )
  if ((mode & 0o077) === 0) return
  throw new IdentityError(
    `other users can access ${path} (mode ${(mode & 0o777).toString(8).padStart(4, '0')}): run ${remedy} ${path}; if another user may have read it, remove it and restart, which creates new credentials`,
  )
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
