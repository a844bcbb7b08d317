/**
 * Where the chain of an audit log stands, so that the next start goes on from there.
 */
import { open } from 'node:fs/promises'
import { linkOf } from '../chain.ts'
import type { ChainLink } from '../chain.ts'
import { auditBackups } from './rotating-file.ts'

/** A line has the bodies of a request and its answer at most. */
const tailBytes = 8 * 1024 * 1024

/** The last link that was written; undefined when there is none. */
export async function lastLink(path: string): Promise<ChainLink | undefined> {
  const backups = await auditBackups(path).catch(() => [])
  for (const file of [path, ...backups.reverse()]) {
    const lines = (await tailOf(file)).split('\n').slice(0, -1)
    const link = lines.length > 0 ? linkOf(lines.at(-1) ?? '') : undefined
    if (link) return link
  }
  return undefined
}

async function tailOf(path: string): Promise<string> {
  const handle = await open(path, 'r').catch(() => undefined)
  if (handle === undefined) return ''
  try {
    const { size } = await handle.stat()
    const length = Math.min(size, tailBytes)
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length)
    return buffer.toString()
  } finally {
    await handle.close()
  }
}
