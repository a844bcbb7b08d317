/**
 * Certificates for callers, signed by the server's own authority.
 */
import { SystemClock, SystemRandom } from '#base'
import type { Clock, Random } from '#base'
import { issueClientCertificate } from '#wire'
import type { CertificateKeyPair } from '#wire'
import type { Identity } from './identity.ts'

export interface IssueClientOptions {
  /** What the caller is called. */
  readonly user: string
  /**
   * Groups the caller is in; `system:masters` may do everything.
   *
   * @default none
   */
  readonly groups?: readonly string[]
  /**
   * How long it is good for. It cannot be taken back.
   *
   * @default a year
   */
  readonly validMs?: number
  /** @default the machine's clock */
  readonly clock?: Clock
  /** @default the machine's source */
  readonly random?: Random
}

/** A certificate and its key, by which the server knows a caller. */
export function issueClient(
  { authority }: Pick<Identity, 'authority'>,
  { user, groups = [], validMs, clock = new SystemClock(), random = new SystemRandom() }: IssueClientOptions,
): CertificateKeyPair {
  if (user === '') throw new RangeError('a client certificate needs the name of a user')
  return issueClientCertificate(authority, {
    subject: { commonName: user, organizations: groups },
    clock,
    random,
    ...(validMs !== undefined && { validMs }),
  })
}
