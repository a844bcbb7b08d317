/**
 * A store of another thread: the store in memory, behind a message channel.
 */
import { MessageChannel } from 'node:worker_threads'
import { PortCalls, SeededRandom } from 'evenkeel/unstable/base'
import { openMemoryStore, RemoteStore, reviveStoreError, storeFunctions } from 'evenkeel/unstable/store'
import type { Store } from 'evenkeel/unstable/store'
import { lastingMs } from './target.ts'
import type { StoreEngine, StoreTarget } from './target.ts'
import { TurningClock } from './turning-clock.ts'

const lacks = {
  reopen: 'memory forgets everything when it is closed',
  crash: 'memory forgets everything when the power goes',
} as const

export const remoteEngine: StoreEngine = {
  name: 'remote',
  lacks,
  unavailable: () => undefined,
  start: () => Promise.resolve({ target: () => Promise.resolve(remoteTarget()), stop: () => Promise.resolve() }),
}

function remoteTarget(): StoreTarget {
  const clock = new TurningClock()
  const ends: (() => Promise<void>)[] = []
  return {
    name: 'remote',
    lacks,
    ttlMs: 1_000,
    open: () => {
      const { remote, end } = throughPorts(
        openMemoryStore({ clock, random: new SeededRandom('memory'), historyMs: lastingMs }),
      )
      ends.push(end)
      return Promise.resolve(remote)
    },
    reopen: () => Promise.reject(new Error(lacks.reopen)),
    crash: () => Promise.reject(new Error(lacks.crash)),
    advance: (byMs) => clock.advance(byMs),
    jumpWall: (byMs) => {
      clock.jumpWall(byMs)
    },
    end: async () => {
      await Promise.all(ends.map((end) => end()))
    },
  }
}

function throughPorts(store: Store): { remote: Store; end: () => Promise<void> } {
  const { port1, port2 } = new MessageChannel()
  const serving: PortCalls = new PortCalls(port1, { functions: storeFunctions(store, () => serving) })
  const remote = new RemoteStore(() => calls)
  const calls = new PortCalls(port2, { functions: remote.functions, revive: reviveStoreError })
  return {
    remote,
    end: async () => {
      await remote.close()
      const closed = new Error('closed')
      calls.close(closed)
      serving.close(closed)
      port1.close()
      await store.close()
    },
  }
}
