/**
 * Who a candidate is, in the form that client-go's tools give it: the machine, for people, and something that no other
 * process has.
 */
import { hostname } from 'node:os'
import { randomUuid } from '#base'
import type { Random } from '#base'

/** `web-0_2b1f...`; new at every call. */
export function makeElectionIdentity(random: Random): string {
  return `${hostname()}_${randomUuid(random)}`
}
