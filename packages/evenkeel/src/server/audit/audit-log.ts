/**
 * The audit log of a server: takes events, counts them, and hands lines to a file or a function.
 *
 * Invariant: writing an event never waits and never throws, whatever becomes of the line; a request is not slower for a slow disk.
 */
import type { JsonObject } from '#api'
import type { Clock, Logger, Random } from '#base'
import type { WireRequest } from '#wire'
import { auditIdOf } from './audit-id.ts'
import type { AuditOptions } from './audit-options.ts'
import { checkAuditPolicy, defaultAuditPolicy } from './audit-policy.ts'
import type { AuditPolicy } from './audit-policy.ts'
import { RequestAudit } from './audited-call.ts'
import { HashChain } from './chain.ts'
import { lastLink } from './file/last-link.ts'
import { RotatingFile } from './file/rotating-file.ts'

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

export class AuditLog {
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
