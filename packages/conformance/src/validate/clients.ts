/**
 * Clients that read and write a few keys concurrently and record their operations and results.
 */
import { nextTurn, randomInt, SeededRandom, SystemClock } from 'evenkeel/unstable/base'
import type { Store } from 'evenkeel/unstable/store'
import { plainEntry } from '../model/store-model.ts'
import type { Operation } from './linearizable.ts'

const turns = new SystemClock()
const keys = ['/x', '/y', '/z'] as const

/** Runs clients on the store, each with its own expectation of the keys. */
export async function runClients(
  store: Store,
  { clients, rounds, seed }: { clients: number; rounds: number; seed: number | string },
): Promise<Operation[]> {
  const operations: Operation[] = []
  let tick = 0
  const run = async (client: number): Promise<void> => {
    const random = new SeededRandom(`${seed}/${client}`)
    const known = new Map<string, number>()
    for (let round = 0; round < rounds; round++) {
      for (let wait = randomInt(random, 3); wait > 1; wait--) await nextTurn(turns)
      const key = keys[randomInt(random, keys.length)] ?? '/x'
      const called = tick++
      const answer =
        randomInt(random, 3) === 0
          ? await read(store, key)
          : await write(store, key, {
              expect: known.get(key) ?? 0,
              value: randomInt(random, 4) === 0 ? undefined : `${client}.${round}`,
            })
      operations.push({ client, called, returned: tick++, key, ...answer })
      known.set(key, revisionOf(answer))
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => run(client)))
  return operations
}

type Answer<Type extends Operation['type'] = Operation['type']> = Type extends unknown
  ? Omit<Extract<Operation, { type: Type }>, 'client' | 'called' | 'returned' | 'key'>
  : never

async function read(store: Store, key: string): Promise<Answer<'read'>> {
  const result = await store.get(key)
  if (!result.ok) throw new Error('a read of the newest is never refused')
  return { type: 'read', revision: result.revision, entry: plainEntry(result.entry) }
}

async function write(
  store: Store,
  key: string,
  { expect, value }: { expect: number; value: string | undefined },
): Promise<Answer<'made' | 'lost'>> {
  const text = value ?? (expect === 0 ? 'made' : undefined)
  const result = await store.commit({ key, expect, ...(text !== undefined && { value: Buffer.from(text, 'latin1') }) })
  return result.ok
    ? { type: 'made', revision: result.revision, expect, value: text }
    : { type: 'lost', expect, current: plainEntry(result.current) }
}

/** The revision that the client now expects. */
function revisionOf(answer: Answer): number {
  if (answer.type === 'read') return answer.entry?.revision ?? 0
  if (answer.type === 'lost') return answer.current?.revision ?? 0
  return answer.value === undefined ? 0 : answer.revision
}
