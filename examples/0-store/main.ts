/**
 * Eight workers count to 80 together; a reader stops half-way and continues from its revision.
 */
import { openMemoryStore } from 'evenkeel/unstable/store'
import { follow, increment } from './counter.ts'

const store = openMemoryStore()
const key = '/counters/visits'

await Promise.all(
  Array.from({ length: 8 }, async () => {
    for (let turn = 0; turn < 10; turn++) await increment(store, key)
  }),
)

let resumeAt = 0
for await (const { value, revision } of follow(store, key, 1)) {
  resumeAt = revision
  if (value === 40) break
}
console.log(`the reader stopped at revision ${resumeAt}, after 40`)
for await (const { value } of follow(store, key, resumeAt)) {
  if (value === 41) console.log('and went on with 41')
  if (value === 80) break
}
console.log('no increment was lost: 80')
await store.close()
