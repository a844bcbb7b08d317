/**
 * How an object is, and why: what every rule about readiness gives.
 */
import type { PartState } from '#api'

export interface Readiness {
  readonly state: PartState
  /** One word in CamelCase. */
  readonly reason?: string
  /** A sentence for people. */
  readonly message?: string
}
