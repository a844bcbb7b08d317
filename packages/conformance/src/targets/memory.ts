/**
 * The reference: everything in memory, on simulated time.
 */
import { SeededRandom } from 'evenkeel/unstable/base'
import { openMemoryStore } from 'evenkeel/unstable/store'
import type { Store } from 'evenkeel/unstable/store'
import { lastingMs } from './target.ts'
import type { StoreEngine, StoreTarget } from './target.ts'
import { TurningClock } from './turning-clock.ts'

const lacks = {
  reopen: 'memory forgets everything when it is closed',
  crash: 'memory forgets everything when the power goes',
} as const

export const memoryEngine: StoreEngine = {
  name: 'memory',
  lacks,
  unavailable: () => undefined,
  start: () => Promise.resolve({ target: () => Promise.resolve(memoryTarget()), stop: () => Promise.resolve() }),
}

function memoryTarget(): StoreTarget {
  const clock = new TurningClock()
  const opened: Store[] = []
  return {
    name: 'memory',
    lacks,
    ttlMs: 1_000,
    open: () => {
      const store = openMemoryStore({ clock, random: new SeededRandom('memory'), historyMs: lastingMs })
      opened.push(store)
      return Promise.resolve(store)
    },
    reopen: () => Promise.reject(new Error(lacks.reopen)),
    crash: () => Promise.reject(new Error(lacks.crash)),
    advance: (byMs) => clock.advance(byMs),
    jumpWall: (byMs) => {
      clock.jumpWall(byMs)
    },
    end: async () => {
      await Promise.all(opened.map((store) => store.close()))
    },
  }
}
