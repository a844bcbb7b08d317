/**
 * A counter in a shared store; many writers may increment it.
 *
 * Invariant: no increment is lost, however many writers there are, because each is committed at the
 * revision it was computed from.
 */
import type { Store } from 'evenkeel/unstable/store'

/** Adds one and returns the new value. A lost race is a value: read again and retry. */
export async function increment(store: Store, key: string): Promise<number> {
  const found = await store.get(key)
  let current = found.ok ? found.entry : undefined
  for (;;) {
    const next = current ? Number(Buffer.from(current.value).toString()) + 1 : 1
    const result = await store.commit({ key, value: Buffer.from(String(next)), expect: current?.revision ?? 0 })
    if (result.ok) return next
    current = result.current
  }
}

/** Every value after a revision, with the revision to continue from. Throws when that history is compacted. */
export async function* follow(
  store: Store,
  key: string,
  after: number,
): AsyncGenerator<{ value: number; revision: number }> {
  const watch = store.watch(key, { after })
  for await (const { changes } of watch) {
    for (const { entry, revision } of changes)
      if (entry) yield { value: Number(Buffer.from(entry.value).toString()), revision }
  }
  if (watch.end?.reason === 'compacted')
    throw new Error(
      `history before revision ${watch.end.compacted} is gone: read the counter again and follow from there`,
    )
}
