/**
 * The engine on a real etcd: one process for all cases, its own prefix for each.
 */
import { openEtcdStore } from 'evenkeel/unstable/store'
import type { Store } from 'evenkeel/unstable/store'
import { startEtcd, whyNoEtcd } from './etcd-process.ts'
import type { StoreEngine, StoreTarget } from './target.ts'

const lacks = {
  alone: 'etcd has one revision for all prefixes, and a watch may use one up to learn how far it is',
  time: 'etcd has a clock of its own',
  crash: 'etcd looks after its own disk',
  large: 'etcd takes requests of up to 1.5 MiB',
} as const

export const etcdEngine: StoreEngine = {
  name: 'etcd',
  lacks,
  unavailable: whyNoEtcd,
  start: async () => {
    const etcd = await startEtcd()
    await leaveTheStart(etcd.endpoint)
    let count = 0
    return {
      target: () => Promise.resolve(etcdTarget(etcd.endpoint, `/case-${count++}/`)),
      stop: () => etcd.stop(),
    }
  },
}

/** A compaction at the very first revision has no effect in etcd, so no case starts there. */
async function leaveTheStart(endpoint: string): Promise<void> {
  const store = await openEtcdStore({ endpoints: [endpoint], prefix: '/start/' })
  for (const key of ['a', 'b']) await store.commit({ key, value: new Uint8Array(1), expect: 0 })
  await store.close()
}

function etcdTarget(endpoint: string, prefix: string): StoreTarget {
  const opened: Store[] = []
  const closeAll = async (): Promise<void> => {
    await Promise.all(opened.splice(0).map((store) => store.close()))
  }
  const open = async (): Promise<Store> => {
    const store = await openEtcdStore({ endpoints: [endpoint], prefix })
    opened.push(store)
    return store
  }
  return {
    name: etcdEngine.name,
    lacks,
    ttlMs: 1_000,
    open,
    reopen: async () => {
      await closeAll()
      return open()
    },
    crash: () => Promise.reject(new Error(lacks.crash)),
    advance: () => Promise.resolve(),
    jumpWall: () => undefined,
    end: closeAll,
  }
}
