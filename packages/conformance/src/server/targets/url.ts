/**
 * Any server that can be reached by a URL: kube-apiserver, a whole cluster, ours.
 *
 * The only thing that cannot be asked over HTTP is to forget history; where the address of the server's etcd is known, it
 * is told to.
 */
import { openEtcdStore } from 'evenkeel/unstable/store'
import type { ServerNeed, ServerTarget } from '../target.ts'
import { nodeSend } from './node-send.ts'
import type { Reach } from './kubeconfig.ts'

interface UrlTargetOptions {
  /** Shown in reports. */
  readonly name: string
  /** The server's etcd, when it may be compacted. */
  readonly etcd?: string
  /** What else is known not to work, with the reason. */
  readonly lacks?: Readonly<Partial<Record<ServerNeed, string>>>
}

export function urlTarget(
  { url, token, ...security }: Reach,
  { name, etcd, lacks = {} }: UrlTargetOptions,
): ServerTarget {
  return {
    name,
    lacks: {
      ...(etcd === undefined && { compaction: 'its history cannot be forgotten on demand' }),
      // Where nothing acts on what the cases create, nothing collects it.
      ...(lacks.still === undefined && { collector: 'no controllers run beside it' }),
      ...lacks,
    },
    send: nodeSend(url, security),
    credentials: token === undefined ? {} : { authorization: `Bearer ${token}` },
    ...(etcd !== undefined && { compact: () => compactEtcd(etcd) }),
  }
}

async function compactEtcd(endpoint: string): Promise<void> {
  const store = await openEtcdStore({ endpoints: [endpoint], prefix: '/judge/' })
  try {
    const current = await store.get('compaction')
    const expect = current.ok ? (current.entry?.revision ?? 0) : 0
    await store.commit({ key: 'compaction', value: new Uint8Array(1), expect })
    await store.compact(await store.head())
  } finally {
    await store.close()
  }
}
