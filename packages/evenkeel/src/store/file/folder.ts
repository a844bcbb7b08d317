/**
 * What is in the folder of a store: its files by number, and whether they make a whole.
 *
 *   snapshot-00000004.ek   all that was before log 4
 *   log-00000004.ek        what came after, then log 5, …
 *   reserve · spare        room for hard times · an old log, kept for its blocks
 *   owner.N.sock           who has the folder open
 *
 * Invariants: nothing is changed or removed in here; a folder that holds anything we did not
 * make is refused, so that a wrong path never mixes a store with somebody's files.
 */
import { StoreError } from '../store-error.ts'
import type { Disk } from './disk/disk.ts'
import { decodeHeader, fileName, formatVersion, headerBytes, parseFileName } from './format/file-header.ts'
import type { FileHeader } from './format/file-header.ts'

/** The numbers of the files that are to be read, and the names of those that are left over. */
export interface FolderPlan {
  readonly snapshot: number | undefined
  readonly logs: readonly number[]
  /** Unfinished or outdated files of ours, to be removed once the store is open. */
  readonly leftovers: readonly string[]
}

export async function planFolder(disk: Disk): Promise<FolderPlan> {
  const names = await disk.list()
  const foreign = names.find((name) => !isOurs(name))
  if (foreign !== undefined)
    throw new StoreError(
      'Foreign',
      `${disk.label} holds ${foreign}, which is not a file of a store: choose an empty folder`,
    )
  const files = names.map((name) => ({ name, parsed: parseFileName(name) }))
  const numbersOf = (kind: 'log' | 'snapshot'): number[] =>
    files.flatMap(({ parsed }) => (parsed?.kind === kind ? [parsed.number] : [])).sort((a, b) => a - b)
  const snapshot = numbersOf('snapshot').at(-1)
  const from = snapshot ?? 1
  const logs = numbersOf('log').filter((number) => number >= from)
  checkChain(disk, { from, logs, snapshot })
  const leftovers = files.flatMap(({ name, parsed }) =>
    name.endsWith('.tmp') || (parsed && parsed.number < from) ? [name] : [],
  )
  return { snapshot, logs, leftovers }
}

/** The header of a file, or `unfinished`. @throws StoreError when the file is not what its name says. */
export async function readHeader(
  disk: Disk,
  name: string,
  { kind, number }: Pick<FileHeader, 'kind' | 'number'>,
): Promise<FileHeader | 'unfinished'> {
  const file = await disk.open(name, 'read')
  try {
    const bytes = Buffer.alloc(headerBytes)
    const reading = decodeHeader(bytes.subarray(0, await file.read(0, bytes)))
    // A log whose header was torn by a power cut has no frames; whether that is so, the reader of frames will see.
    if (reading.type === 'unfinished' || (reading.type === 'damaged' && kind === 'log')) return 'unfinished'
    if (reading.type === 'foreign')
      throw new StoreError(
        'Foreign',
        `${disk.label}/${name} was not written by Evenkeel: move it away, or choose another folder`,
      )
    if (reading.type === 'newer') throw newerFormat(`${disk.label}/${name}`, reading.format)
    if (reading.type === 'damaged') throw damaged(disk, name, 'its header is broken')
    if (reading.header.kind !== kind || reading.header.number !== number)
      throw damaged(
        disk,
        name,
        `it says it is ${reading.header.kind} ${reading.header.number}; it was renamed or copied`,
      )
    return reading.header
  } finally {
    await file.close()
  }
}

function newerFormat(where: string, format: number): StoreError {
  return new StoreError(
    'NewerFormat',
    `${where} has format ${format}, this version reads up to ${formatVersion}: use the version of Evenkeel that wrote it, or a newer one`,
  )
}

export function damaged(disk: Disk, name: string, what: string): StoreError {
  return new StoreError(
    'Damaged',
    `${disk.label}/${name} is damaged: ${what}. Nothing was changed; restore a backup into a new folder (snapshot restore), or keep this one for inspection`,
  )
}

function isOurs(name: string): boolean {
  return (
    parseFileName(name) !== undefined ||
    /^(?:reserve|spare|owner\.\d+\.sock|owner\.new\.\w+\.sock|snapshot-\d{8,15}\.tmp)$/.test(name)
  )
}

/** Logs must follow the snapshot without a gap: one that is missing would be acknowledged writes lost in silence. */
function checkChain(
  disk: Disk,
  { from, logs, snapshot }: { from: number; logs: readonly number[]; snapshot: number | undefined },
): void {
  const gap = logs.findIndex((number, index) => number !== from + index)
  const missing = gap >= 0 ? from + gap : logs.length === 0 && snapshot !== undefined ? from : undefined
  if (missing !== undefined) throw damaged(disk, fileName('log', missing), 'it is missing')
}
