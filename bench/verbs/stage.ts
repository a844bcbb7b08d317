/**
 * Prepares the cases: creates many objects, and counts all writes.
 */
import type { Kind, ObjectOf } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import type { TestPlane } from 'evenkeel/testing'

interface Many {
  readonly namespace: string
  readonly count: number
  readonly spec: object
}

export async function createAll(client: Client, kind: Kind, { namespace, count, spec }: Many): Promise<void> {
  const names = Array.from({ length: count }, (_, at) => `o-${at}`).values()
  const work = async (): Promise<void> => {
    for (const name of names)
      await client.create(kind, { metadata: { name, namespace }, spec } as unknown as ObjectOf<Kind>)
  }
  await Promise.all(Array.from({ length: 32 }, work))
}

/** Moves a simulated clock until something is done: servers delay clients with many requests. */
export async function moving<T>(plane: TestPlane, asked: Promise<T>): Promise<T> {
  const state = { isDone: false }
  const done = asked.finally(() => {
    state.isDone = true
  })
  done.catch(() => undefined)
  while (!state.isDone) await plane.advance(1)
  return await done
}

/** Every write gets the next number. */
export async function revisionOf(client: Client, kind: Kind, namespace: string): Promise<number> {
  return Number((await client.page(kind, { namespace, pageSize: 1 })).metadata.resourceVersion)
}
