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

/** The destination of lines. */
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

  /** @throws {RangeError} for invalid options; errors of opening the file. */
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
      '# HELP apiserver_audit_event_total Audit events generated.',
      '# TYPE apiserver_audit_event_total counter',
      `apiserver_audit_event_total ${this.#events}`,
      '# HELP evenkeel_audit_dropped_total Audit events dropped because the buffer was full.',
      '# TYPE evenkeel_audit_dropped_total counter',
      `evenkeel_audit_dropped_total ${this.#sink.dropped}`,
    ]
  }

  /** Writes the buffered lines. */
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
        log.error('audit sink failed: event dropped', { error })
      }
    },
    close: () => Promise.resolve(),
  }
}

export interface AuditOptions {
  /**
   * What is logged.
   *
   * @default metadata of all requests but reads
   */
  policy?: AuditPolicy
  /** Lines go into this file, which is rotated; either this or `write`. */
  file?: AuditFileOptions
  /** Takes each line, without its line break. It must not block. */
  write?: (line: string) => void
  /**
   * Adds a hash over each line and its predecessor, so that `verifyAuditLog` detects changed, removed and inserted
   * lines. With a key that is stored elsewhere the chain cannot be forged.
   *
   * @default false
   */
  chain?: boolean | { readonly key: string }
  /**
   * Log the content of Secrets, TokenReviews and TokenRequests if the policy includes them. If false, only their metadata is
   * logged.
   *
   * @default false
   */
  secretBodies?: boolean
}

/** A line contains at most the bodies of a request and its response. */
const tailBytes = 8 * 1024 * 1024

/** The last link in the file; undefined when there is none. */
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
