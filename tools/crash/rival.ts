/**
 * One of two processes that compete for the same folder. On `open` it tries to open the folder and prints `own` or
 * `locked`; on `close` it releases the folder.
 */
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { isStoreError, openFileStore } from 'evenkeel/unstable/store'
import type { FileStore } from 'evenkeel/unstable/store'

const [folder = ''] = process.argv.slice(2)
let store: FileStore | undefined

writeSync(1, 'ready\n')
for await (const line of createInterface({ input: process.stdin })) writeSync(1, `${await obey(line)}\n`)

async function obey(line: string): Promise<string> {
  if (line === 'close') {
    await store?.close()
    store = undefined
    return 'closed'
  }
  try {
    store = await openFileStore(folder, { reserveBytes: 0 })
    return 'own'
  } catch (error) {
    if (isStoreError(error, 'Locked')) return 'locked'
    return `error ${error instanceof Error ? error.message : String(error)}`
  }
}
