/**
 * Where the audit log goes and what is in it.
 */
import type { AuditPolicy } from './audit-policy.ts'

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

export interface AuditFileOptions {
  /** Made if it is not there, readable by its owner only. Old ones lie beside it: `audit-2026-01-01T00-00-00.000.log`. */
  path: string
  /**
   * How large it grows before a new one is begun.
   *
   * @default 10_485_760
   */
  bytesMax?: number
  /**
   * How many old ones are kept.
   *
   * @default 5
   */
  backupsMax?: number
  /**
   * How old they may be.
   *
   * @default any age
   */
  ageMaxMs?: number
  /**
   * What may wait to be written. Requests never wait for the disk: what comes while this is full is dropped and counted.
   *
   * @default 8_388_608
   */
  bufferBytesMax?: number
}
