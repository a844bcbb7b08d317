/**
 * The network to a cloud: calls take time, some get lost, and some lose their reply.
 */
import { ExternalError } from 'evenkeel/verbs'
import { sleep } from 'evenkeel/unstable/base'
import type { Clock, Random } from 'evenkeel/unstable/base'
import type { Cloud } from '../kinds.ts'
import type { CloudInMemory } from './cloud-in-memory.ts'

export interface Way {
  readonly clock: Clock
  readonly random: Random
  /** The longest round trip of a call. @default 400 */
  readonly latencyMs?: number
  /** How many calls of a hundred fail. @default 10 */
  readonly faultsPercent?: number
}

export function farAway(cloud: CloudInMemory, { clock, random, latencyMs = 400, faultsPercent = 10 }: Way): Cloud {
  const travel = async (what: string): Promise<void> => {
    await sleep(clock, (share(random) * latencyMs) / 2)
    if (share(random) * 200 < faultsPercent)
      throw new ExternalError(`${what}: the cloud does not respond`, { status: 503 })
  }
  const call = async <R>(what: string, execute: () => R): Promise<R> => {
    await travel(what)
    const answer = execute()
    // The call was executed, and the caller does not know.
    await travel(what)
    return answer
  }
  return {
    findAccount: (...args) => call('findAccount', () => cloud.findAccount(...args)),
    createAccount: (...args) => call('createAccount', () => cloud.createAccount(...args)),
    encryptAccount: (...args) => call('encryptAccount', () => cloud.encryptAccount(...args)),
    deleteAccount: (...args) => call('deleteAccount', () => cloud.deleteAccount(...args)),
    listGrants: (...args) => call('listGrants', () => cloud.listGrants(...args)),
    putGrant: (...args) => call('putGrant', () => cloud.putGrant(...args)),
    deleteGrant: (...args) => call('deleteGrant', () => cloud.deleteGrant(...args)),
  }
}

function share(random: Random): number {
  return random.uint32() / 2 ** 32
}
