/**
 * What the file engine asks of a disk: one folder and the files in it.
 *
 * Everything goes through here, so that a test can cut the power, fill the disk or fail any one
 * call. The promises are those of a journaling file system, no more: written bytes may be lost,
 * torn or kept in any order until `sync` of their file resolves; names made, renamed or removed
 * may be forgotten, newest first, until `syncFolder` resolves.
 */

export interface DiskFile {
  size(): Promise<number>
  /** Fills the buffer from the offset as far as the file goes; gives the number of bytes. */
  read(offset: number, into: Buffer): Promise<number>
  /** Writes all of the bytes, or throws. */
  write(offset: number, bytes: Uint8Array): Promise<void>
  /** Writes all of the bytes and resolves once they would survive a power cut: `write` and `sync` in one, and faster. */
  writeThrough(offset: number, bytes: Uint8Array): Promise<void>
  truncate(length: number): Promise<void>
  /** Resolves once the contents would survive a power cut. */
  sync(): Promise<void>
  close(): Promise<void>
}

export type OpenMode = 'create' | 'read' | 'write'

export interface Disk {
  /** How to name the folder to a person. */
  readonly label: string
  list(): Promise<readonly string[]>
  /** `create` fails when the name is there, the others when it is not. */
  open(name: string, mode: OpenMode): Promise<DiskFile>
  rename(from: string, to: string): Promise<void>
  remove(name: string): Promise<void>
  /** Resolves once names made, renamed and removed would survive a power cut. */
  syncFolder(): Promise<void>
}

/** The code of a failed call, such as `ENOSPC`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** True when the call failed for lack of room. */
export function isNoSpace(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG'
}
