/**
 * The hash chain of an audit log.
 *
 * Each line ends with a field `chain`: its number, and a hash over the previous hash, the number and the line without
 * that field. A changed, removed or inserted line breaks the chain at that line. The chain alone does not detect a
 * truncated end or a newly written chain: store the last number and hash elsewhere from time to time, and use a key.
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
  /** The number of checked lines. */
  readonly lines: number
  /** The first and the last link; older files may have been deleted by rotation, so the first is rarely number 1. */
  readonly first?: ChainLink
  readonly last?: ChainLink
  /** The first error and its position. */
  readonly problem?: string
}

/**
 * Verifies the hash chain of audit files. A last line without a line break, which a crash may leave, is ignored.
 *
 * @param paths oldest first
 * @throws errors of reading them
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
