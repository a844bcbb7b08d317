/**
 * The contenders for durable commits: our store and its peers, behind one function.
 */
import { closeSync, fdatasync, mkdtempSync, openSync, rmSync, write } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { openFileStore } from 'evenkeel/unstable/store'
import type { Store } from 'evenkeel/unstable/store'

/** A store that can make a value durable under a new key. */
export interface Contender {
  readonly name: string
  /** Resolves once the value would survive a power cut. */
  put(key: string, value: Buffer): Promise<void>
  /** The processes whose CPU time counts; by default this one. */
  readonly processId?: number
  close(): Promise<void>
}

/** A folder on the disk that all contenders share. */
export function benchFolder(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(path.join(process.env['EVENKEEL_BENCH_FOLDER'] ?? os.tmpdir(), 'evenkeel-bench-'))
  return {
    folder,
    remove: () => {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export function openFile(folder: string): Promise<Store> {
  return openFileStore(path.join(folder, 'file'), { historyChangesMax: 1_000_000 })
}

export function storeContender(name: string, store: Store, processId?: number): Contender {
  return {
    name,
    put: (key, value) => putNew(store, key, value),
    close: () => store.close(),
    ...(processId !== undefined && { processId }),
  }
}

async function putNew(store: Store, key: string, value: Buffer): Promise<void> {
  const result = await store.commit({ key, value, expect: 0 })
  if (!result.ok) throw new Error(`${key} already exists`)
}

/**
 * The limit: append and fdatasync, all waiting records in one write, and nothing else. No index, no checksum,
 * no reads. No store that acknowledges durable writes can be faster.
 */
export function bareContender(folder: string): Contender {
  const handle = openSync(path.join(folder, 'bare.log'), 'w')
  let waiting: { value: Buffer; done: () => void }[] = []
  let offset = 0
  let busy = false
  const flush = (): void => {
    const batch = waiting
    waiting = []
    busy = batch.length > 0
    if (!busy) return
    const bytes = Buffer.concat(batch.map(({ value }) => value))
    write(handle, bytes, 0, bytes.length, offset, () => {
      offset += bytes.length
      fdatasync(handle, () => {
        for (const { done } of batch) done()
        setImmediate(flush)
      })
    })
  }
  const put = (_key: string, value: Buffer): Promise<void> =>
    new Promise((done) => {
      waiting.push({ value, done })
      if (!busy) {
        busy = true
        setImmediate(flush)
      }
    })
  return {
    name: 'append + fdatasync',
    put,
    close: () => {
      closeSync(handle)
      return Promise.resolve()
    },
  }
}

/** SQLite as shipped with Node, write-ahead log, synchronous FULL, all waiting rows in one transaction. */
export function sqliteContender(folder: string): Contender | undefined {
  const sqlite = process.getBuiltinModule('node:sqlite') as SqliteModule | undefined
  if (!sqlite) return undefined
  const database = new sqlite.DatabaseSync(path.join(folder, 'bench.sqlite'))
  database.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE entries (key TEXT PRIMARY KEY, value BLOB)',
  )
  const insert = database.prepare('INSERT INTO entries VALUES (?, ?)')
  let waiting: { key: string; value: Buffer; done: () => void }[] = []
  const flush = (): void => {
    const batch = waiting
    waiting = []
    database.exec('BEGIN')
    for (const { key, value } of batch) insert.run(key, value)
    database.exec('COMMIT')
    for (const { done } of batch) done()
  }
  const put = (key: string, value: Buffer): Promise<void> =>
    new Promise((done) => {
      if (waiting.push({ key, value, done }) === 1) setImmediate(flush)
    })
  return {
    name: 'SQLite WAL FULL',
    put,
    close: () => {
      database.close()
      return Promise.resolve()
    },
  }
}

/** The part of `node:sqlite` that is used; Node 20 has neither the module nor its types. */
interface SqliteModule {
  DatabaseSync: new (file: string) => {
    exec(sql: string): void
    prepare(sql: string): { run(...values: unknown[]): void }
    close(): void
  }
}
