/**
 * The store against its peers: etcd over its own protocol, SQLite, and the bare disk.
 */
import path from 'node:path'
import type { Bench, BenchOptions } from '../print.ts'
import { commitBench } from './commits.ts'
import { bareContender, benchFolder, openFile, sqliteContender, storeContender } from './contender.ts'
import type { Contender } from './contender.ts'
import { startEtcd } from './etcd.ts'
import { openingBench } from './opening.ts'
import { fanOutBench, scanBench } from './reads.ts'

export const storeBench: Bench = {
  about: 'durable commits, range scan, watch fan-out, memory, opening: against etcd, SQLite and the bare disk',
  async run(options) {
    const { folder, remove } = benchFolder()
    try {
      await runIn(folder, options)
    } finally {
      remove()
    }
  },
}

async function runIn(folder: string, options: BenchOptions): Promise<void> {
  const missing: string[] = []
  const etcd = await startEtcd(path.join(folder, 'etcd'))
  if (!etcd) missing.push('etcd is not installed (Debian package etcd-server)')
  const sqlite = sqliteContender(folder)
  if (!sqlite) missing.push(`SQLite is not in Node ${process.version}`)
  const file = await openFile(folder)
  const contenders: Contender[] = [
    storeContender('file', file),
    bareContender(folder),
    ...(etcd ? [etcd.contender] : []),
    ...(sqlite ? [sqlite] : []),
  ]
  const ours = { name: 'file', store: file }
  const peer = etcd && { name: `etcd ${etcd.version}`, store: etcd.store }
  try {
    await commitBench(contenders, { ...options, missing })
    await fanOutBench(ours, peer, options)
    await scanBench(ours, peer, options)
    await openingBench(folder, options)
  } finally {
    for (const contender of contenders) await contender.close()
    await etcd?.stop()
  }
}
