/**
 * The durable engine, twice: in a real folder, and on a simulated disk whose power can be cut.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SeededRandom } from 'evenkeel/unstable/base'
import { openFileStore, openOnDisk, SimulatedDisk } from 'evenkeel/unstable/store'
import type { Store } from 'evenkeel/unstable/store'
import { lastingMs } from './target.ts'
import type { StoreEngine, StoreTarget } from './target.ts'
import { TurningClock } from './turning-clock.ts'

/** A small preallocation, so that a case does not write megabytes; only the case itself compacts. */
const options = { reserveBytes: 4096, historyMs: lastingMs } as const

export const fileEngine: StoreEngine = {
  name: 'file',
  lacks: { crash: 'the power of a real disk cannot be cut by a test; see file-simulated' },
  unavailable: () => undefined,
  start: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'evenkeel-judge-'))
    let count = 0
    return {
      target: () => Promise.resolve(folderTarget(join(folder, String(count++)))),
      stop: () => rm(folder, { recursive: true, force: true }),
    }
  },
}

export const simulatedFileEngine: StoreEngine = {
  name: 'file-simulated',
  lacks: {},
  unavailable: () => undefined,
  start: () => Promise.resolve({ target: () => Promise.resolve(simulatedTarget()), stop: () => Promise.resolve() }),
}

function folderTarget(folder: string): StoreTarget {
  const clock = new TurningClock()
  let current: Store | undefined
  const open = async (): Promise<Store> => {
    await current?.close()
    current = await openFileStore(folder, { ...options, clock })
    return current
  }
  return {
    name: fileEngine.name,
    lacks: fileEngine.lacks,
    ttlMs: 1_000,
    open,
    reopen: open,
    crash: () => Promise.reject(new Error(fileEngine.lacks.crash)),
    advance: (byMs) => clock.advance(byMs),
    jumpWall: (byMs) => {
      clock.jumpWall(byMs)
    },
    end: async () => {
      await current?.close()
    },
  }
}

/** A store after a power cut is not closed: its disk and its clock differ from those of the new one. */
function simulatedTarget(): StoreTarget {
  const random = new SeededRandom('disk')
  let [clock, disk] = [new TurningClock(), new SimulatedDisk()]
  let current: Store | undefined
  const begin = async (): Promise<Store> => {
    current = await openOnDisk(disk, { ...options, clock, random })
    return current
  }
  return {
    name: simulatedFileEngine.name,
    lacks: {},
    ttlMs: 1_000,
    open: begin,
    reopen: async () => {
      await current?.close()
      return begin()
    },
    crash: () => {
      disk = new SimulatedDisk({}, disk.cut(random))
      clock = new TurningClock()
      return begin()
    },
    advance: (byMs) => clock.advance(byMs),
    jumpWall: (byMs) => {
      clock.jumpWall(byMs)
    },
    end: async () => {
      await current?.close()
    },
  }
}
