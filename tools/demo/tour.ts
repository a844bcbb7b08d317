/**
 * A short tour of the store: what a controller author will find under everything.
 */
import type { FileStore } from 'evenkeel/unstable/store'

/** Writes, loses a race, watches, reads the past; every line says what it saw. */
export async function runTour(store: FileStore, folder: string): Promise<void> {
  const say = (text: string): void => { process.stdout.write(`${text}\n`) }
  const before = await store.head()
  say(`The store in ${folder} is open at revision ${before}. Everything below is on the disk before it is answered.\n`)
  const key = `/demo/run-${before}`
  const created = await store.commit({ key, value: Buffer.from('{"replicas":1}'), expect: 0 })
  if (!created.ok) throw new Error(`${key} was there already`)
  say(`created     ${key} at revision ${created.revision}`)
  const updated = await store.commit({ key, value: Buffer.from('{"replicas":3}'), expect: created.revision })
  if (!updated.ok) throw new Error(`${key} was changed by somebody else`)
  say(`updated     to {"replicas":3} at revision ${updated.revision}`)
  const late = await store.commit({ key, value: Buffer.from('{"replicas":9}'), expect: created.revision })
  say(`lost race   a writer that still expected ${created.revision} was refused: the key is at ${late.ok ? '?' : late.current?.revision}`)
  const past = await store.get(key, { revision: created.revision })
  say(`the past    at revision ${created.revision} it was ${past.ok ? Buffer.from(past.entry?.value ?? []).toString() : past.reason}`)
  await store.commit({ key, expect: updated.revision })
  say(`deleted     ${key}\n\nA watch from revision ${before} sees all of it, in order:`)
  for await (const { changes } of store.watch('/demo/', { after: before })) {
    for (const { entry, revision } of changes) say(`  ${revision}  ${entry ? `PUT ${Buffer.from(entry.value).toString()}` : 'DELETE'}`)
    break
  }
  say('\nTry: npm start (in a terminal, for a prompt) · npm run crash · npm run bench -- store')
}
