/**
 * The process to be killed: opens the store, writes with all writers concurrently and prints
 * `writer step revision` for every acknowledged step, immediately and before the next.
 *
 * With `--ack-early` it prints before the acknowledgement: the deliberately broken variant.
 */
import { writeSync } from 'node:fs'
import { openFileStore } from 'evenkeel/unstable/store'
import type { FileStore } from 'evenkeel/unstable/store'
import { keyOf, valueOf, writers } from './workload.ts'

const [folder = '', steps = '', early] = process.argv.slice(2)

/** Writes synchronously: retries while the pipe is full. */
const say = (line: string): void => {
  for (let text = Buffer.from(`${line}\n`); text.length > 0;) {
    try {
      text = text.subarray(writeSync(1, text))
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
    }
  }
}

const store = await openFileStore(folder, { logBytesMin: 256 * 1024 })
const head = await store.head()
say(`ready ${head}`)
await Promise.all(steps.split(',').map((step, writer) => write(store, writer, Number(step))))

async function write(target: FileStore, writer: number, from: number): Promise<void> {
  const key = keyOf(writer)
  const found = await target.get(key)
  let expect = found.ok ? (found.entry?.revision ?? 0) : 0
  for (let step = from + 1; step < from + 1_000_000; step++) {
    const value = valueOf(writer, step)
    if (!value && expect === 0) continue
    if (early) say(`${writer} ${step} 0`)
    const result = await target.commit({ key, expect, ...(value && { value }) })
    if (!result.ok) throw new Error(`step ${step} of writer ${writer} lost a race without another writer`)
    expect = value ? result.revision : 0
    if (!early) say(`${writer} ${step} ${result.revision}`)
  }
}

if (steps.split(',').length !== writers) throw new Error(`expected a step for each of ${writers} writers`)
