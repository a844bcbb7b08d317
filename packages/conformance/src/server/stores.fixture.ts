/**
 * The stores of the tested server: the same cases on every engine.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEtcdStore, openFileStore } from 'evenkeel/unstable/store'
import { startEtcd } from '../targets/etcd-process.ts'
import { evenkeelTarget } from './targets/evenkeel.ts'
import type { EvenkeelTarget } from './targets/evenkeel.ts'

/** Our server in process, on files. */
export async function onFiles(): Promise<EvenkeelTarget> {
  const folder = await mkdtemp(join(tmpdir(), 'evenkeel-judged-'))
  const store = await openFileStore(folder)
  const target = await evenkeelTarget({ store })
  return {
    ...target,
    async stop() {
      await target.stop()
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Our server in process, on a real etcd. */
export async function onEtcd(): Promise<EvenkeelTarget> {
  const etcd = await startEtcd()
  const store = await openEtcdStore({ endpoints: [etcd.endpoint], prefix: '/judged/' })
  const target = await evenkeelTarget({ store })
  return {
    ...target,
    async stop() {
      await target.stop()
      await store.close()
      await etcd.stop()
    },
  }
}
