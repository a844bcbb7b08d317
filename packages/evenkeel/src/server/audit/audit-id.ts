/**
 * The number of a request, by which it is found again in the audit log and in the logs of others.
 */
import { randomUuid } from '#base'
import type { Random } from '#base'
import type { WireRequest } from '#wire'

const givenId = /^[\w.-]{1,64}$/

/** Clients may number their requests themselves. */
export function auditIdOf({ headers }: WireRequest, random: Random): string {
  const given = headers['audit-id']
  return given !== undefined && givenId.test(given) ? given : randomUuid(random)
}
