/**
 * A chain of hashes through the lines of an audit log.
 *
 * Each line ends with a field `chain`: its number, and a hash over the hash before, the number and the line without that field. Changing, removing
 * or inserting a line breaks the chain right there. What a chain alone cannot show is that its end was cut off, or that somebody
 * wrote a new one: for that, keep the last number and hash elsewhere now and then, and use a key.
 */
import { createHash, createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'

/** One link: the number of a line and the hash up to it. */
export interface ChainLink {
  readonly sequence: number
  readonly hash: string
}

const start: ChainLink = { sequence: 0, hash: '' }
const suffix = /,"chain":"(\d{1,15}) ([0-9a-f]{64})"\}$/

/** Adds links to lines. */
export class HashChain {
  readonly #key: string | undefined
  #last: ChainLink

  constructor({ key, after = start }: { key: string | undefined; after?: ChainLink | undefined }) {
    this.#key = key
    this.#last = after
  }

  /** The line with its link. */
  seal(line: string): string {
    const sequence = this.#last.sequence + 1
    this.#last = { sequence, hash: hashOf(line, { sequence, previous: this.#last.hash, key: this.#key }) }
    return `${line.slice(0, -1)},"chain":"${sequence} ${this.#last.hash}"}`
  }
}

/** The link of a line; undefined when it has none. */
export function linkOf(line: string): ChainLink | undefined {
  const [, sequence, hash] = suffix.exec(line) ?? []
  return sequence === undefined || hash === undefined ? undefined : { sequence: Number(sequence), hash }
}

export interface AuditVerification {
  readonly ok: boolean
  /** Lines that were looked at. */
  readonly lines: number
  /** The first and the last link; older files may have been deleted by rotation, so the first is rarely number 1. */
  readonly first?: ChainLink
  readonly last?: ChainLink
  /** What is wrong, and where. */
  readonly problem?: string
}

/**
 * Looks whether audit files are as they were written. A last line without a line break, which a crash may leave, is passed over.
 *
 * @param paths oldest first
 * @throws what reading them throws
 */
export async function verifyAuditLog(
  paths: readonly string[],
  { key }: { key?: string } = {},
): Promise<AuditVerification> {
  let first: ChainLink | undefined
  let last: ChainLink | undefined
  let lines = 0
  for (const path of paths) {
    const whole = (await readFile(path, 'utf8')).split('\n').slice(0, -1)
    for (const [index, line] of whole.entries()) {
      const problem = problemOf(line, last, key)
      if (problem !== undefined)
        return {
          ok: false,
          lines,
          ...(first && { first }),
          ...(last && { last }),
          problem: `${path}:${index + 1}: ${problem}`,
        }
      lines++
      last = linkOf(line)
      first ??= last
    }
  }
  return { ok: true, lines, ...(first && { first }), ...(last && { last }) }
}

function problemOf(line: string, previous: ChainLink | undefined, key: string | undefined): string | undefined {
  const link = linkOf(line)
  if (link === undefined) return 'the line has no link'
  if (previous === undefined && link.sequence > 1) return undefined
  const { sequence, hash } = previous ?? start
  if (link.sequence !== sequence + 1) return `line ${link.sequence} follows line ${sequence}`
  const expected = hashOf(line.replace(suffix, '}'), { sequence: link.sequence, previous: hash, key })
  return expected === link.hash ? undefined : `line ${link.sequence} is not what was written`
}

function hashOf(
  line: string,
  { sequence, previous, key }: { sequence: number; previous: string; key: string | undefined },
): string {
  const hash = key === undefined ? createHash('sha256') : createHmac('sha256', key)
  return hash.update(`${previous} ${sequence} ${line}`).digest('hex')
}
