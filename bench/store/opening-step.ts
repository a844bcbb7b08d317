/**
 * One measurement in a separate process: `fill`, `read`, `open` or `memory`, a folder, a number of objects.
 */
import fs from 'node:fs'
import path from 'node:path'
import { openFileStore, openMemoryStore } from 'evenkeel/unstable/store'
import type { Store } from 'evenkeel/unstable/store'
import type { StepResult } from './opening.ts'

const [step = '', data = '', countText = '0'] = process.argv.slice(2)
const objects = Number(countText)
const value = Buffer.alloc(1024, 'v')

const steps: Readonly<Record<string, () => Promise<StepResult>>> = { fill, read, open, memory }
const run = steps[step]
if (!run) throw new Error(`unknown step ${step}`)
process.stdout.write(JSON.stringify(await run()))

/** Writes the objects and compacts, so that the folder contains one snapshot and an empty log. */
async function fill(): Promise<StepResult> {
  const store = await openFileStore(data, { logBytesMin: 1e12 })
  await put(store)
  if (!(await store.compactLog())) throw new Error('cannot compact the log')
  await store.close()
  return { fileBytes: fs.statSync(snapshotIn(data)).size }
}

/** The time to read the file into memory, in pieces: the minimum for any store. */
function read(): Promise<StepResult> {
  const started = performance.now()
  const handle = fs.openSync(snapshotIn(data), 'r')
  const { size } = fs.fstatSync(handle)
  const pieces: Buffer[] = []
  for (let offset = 0; offset < size; offset += 4 << 20) {
    const piece = Buffer.allocUnsafeSlow(Math.min(4 << 20, size - offset))
    fs.readSync(handle, piece, 0, piece.length, offset)
    pieces.push(piece)
  }
  fs.closeSync(handle)
  return Promise.resolve({
    ms: performance.now() - started,
    fileBytes: pieces.reduce((sum, { length }) => sum + length, 0),
  })
}

async function open(): Promise<StepResult> {
  const started = performance.now()
  const store = await openFileStore(data)
  const ms = performance.now() - started
  const last = await store.get(keyOf(objects - 1))
  if (!last.ok || last.entry?.value.length !== value.length) throw new Error('the last object is missing')
  const rssBytes = process.memoryUsage.rss()
  await store.close()
  return { ms, rssBytes }
}

async function memory(): Promise<StepResult> {
  const store = openMemoryStore()
  const before = settledRss()
  await put(store)
  const bytesPerObject = (settledRss() - before) / objects
  const last = await store.get(keyOf(objects - 1))
  if (!last.ok || !last.entry) throw new Error('the last object is missing')
  return { bytesPerObject }
}

function settledRss(): number {
  for (let round = 0; round < 3; round++) globalThis.gc?.()
  return process.memoryUsage.rss()
}

async function put(store: Store): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: 512 }, async () => {
      while (next < objects) await store.commit({ key: keyOf(next++), value, expect: 0 })
    }),
  )
}

function keyOf(number: number): string {
  return `/registry/bench/widgets/default/widget-${String(number).padStart(8, '0')}`
}

function snapshotIn(folder: string): string {
  const name = fs.readdirSync(folder).find((file) => file.startsWith('snapshot-'))
  if (name === undefined) throw new Error(`${folder} contains no snapshot`)
  return path.join(folder, name)
}
