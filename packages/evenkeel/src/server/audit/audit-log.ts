/**
 * The audit log of a server: takes events, counts them, and writes lines to a file or a function.
 *
 * A hash chain continues after a restart from the last line of the file.
 *
 * Invariant: writing an event never waits and never throws, so a slow disk does not slow down requests.
 */
import { open } from 'node:fs/promises'
import type { JsonObject } from '#api'
import type { Clock, Logger, Random } from '#base'
import type { WireRequest } from '#wire'
import { auditIdOf } from '../request-context.ts'
import { checkAuditPolicy, defaultAuditPolicy, type AuditPolicy } from './audit-policy.ts'
import { HashChain, linkOf, type ChainLink } from './hash-chain.ts'
import { RequestAudit, type AuditEvents } from './request-audit.ts'
import { auditBackups, RotatingFile, type AuditFileOptions } from './rotating-file.ts'

interface AuditLogContext {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** Where lines go. */
interface AuditSink {
  write(line: string): void
  readonly dropped: number
  close(): Promise<void>
}

export class AuditLog implements AuditEvents {
  readonly clock: Clock
  readonly policy: AuditPolicy
  readonly showsSecrets: boolean
  readonly #random: Random
  readonly #sink: AuditSink
  #events = 0

  private constructor(
    { policy = defaultAuditPolicy, secretBodies = false }: AuditOptions,
    sink: AuditSink,
    { clock, random }: AuditLogContext,
  ) {
    checkAuditPolicy(policy)
    this.clock = clock
    this.policy = policy
    this.showsSecrets = secretBodies
    this.#random = random
    this.#sink = sink
  }

  /**
   * @throws {RangeError} for options that cannot be meant; what opening the file throws.
   */
  static async open(options: AuditOptions, around: AuditLogContext): Promise<AuditLog> {
    checkAuditPolicy(options.policy ?? defaultAuditPolicy)
    return new AuditLog(options, await openSink(options, around), around)
  }

  /** A request has arrived. */
  begin(request: WireRequest): RequestAudit {
    return new RequestAudit(request, auditIdOf(request, this.#random), this)
  }

  write(event: JsonObject): void {
    this.#events++
    this.#sink.write(JSON.stringify(event))
  }

  /** Lines for `/metrics`. */
  metrics(): string[] {
    return [
      '# HELP apiserver_audit_event_total Audit events that were made.',
      '# TYPE apiserver_audit_event_total counter',
      `apiserver_audit_event_total ${this.#events}`,
      '# HELP evenkeel_audit_dropped_total Audit events that found no room.',
      '# TYPE evenkeel_audit_dropped_total counter',
      `evenkeel_audit_dropped_total ${this.#sink.dropped}`,
    ]
  }

  /** Writes what waits. */
  close(): Promise<void> {
    return this.#sink.close()
  }
}

async function openSink(
  { file, write, chain = false }: AuditOptions,
  { clock, log }: AuditLogContext,
): Promise<AuditSink> {
  if ((file === undefined) === (write === undefined))
    throw new RangeError('an audit log needs either a file or a function to write to')
  const key = typeof chain === 'object' ? chain.key : undefined
  if (file) {
    const links = chain ? new HashChain({ key, after: await lastLink(file.path) }) : undefined
    return RotatingFile.open(file, { clock, log, seal: (line) => links?.seal(line) ?? line })
  }
  const links = chain ? new HashChain({ key }) : undefined
  let dropped = 0
  return {
    get dropped() {
      return dropped
    },
    write(line) {
      try {
        write?.(links?.seal(line) ?? line)
      } catch (error) {
        dropped++
        log.error('an audit line was not taken', { error })
      }
    },
    close: () => Promise.resolve(),
  }
}

export interface AuditOptions {
  /**
   * What is written down.
   *
   * @default who, what and when of everything that is not a read
   */
  policy?: AuditPolicy
  /** Lines go into this file, which is rotated; either this or `write`. */
  file?: AuditFileOptions
  /** Takes each line, without its line break. It must not wait. */
  write?: (line: string) => void
  /**
   * Every line also tells a hash over itself and the line before, so that lines that were changed, removed or put in between are
   * found (`verifyAuditLog`). With a key that is kept elsewhere nobody can make up a new chain.
   *
   * @default false
   */
  chain?: boolean | { readonly key: string }
  /**
   * Also write down what is in Secrets, TokenReviews and token requests, if the policy says so. Otherwise they are
   * never more than metadata.
   *
   * @default false
   */
  secretBodies?: boolean
}

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
