/**
 * Any server with a URL: kube-apiserver, a whole cluster, ours.
 *
 * Compaction is the only operation that HTTP does not offer; if the address of the server's etcd is known, etcd
 * compacts.
 */
import { openEtcdStore } from 'evenkeel/unstable/store'
import type { ServerNeed, ServerTarget } from '../target.ts'
import { nodeSend } from './node-send.ts'
import type { Reach } from './kubeconfig.ts'

interface UrlTargetOptions {
  /** Shown in reports. */
  readonly name: string
  /** The server's etcd, if the suite may compact it. */
  readonly etcd?: string
  /** Whether the feature gate CBORServingAndStorage is on. */
  readonly cbor?: boolean
  /** Other known limits, with the reason. */
  readonly lacks?: Readonly<Partial<Record<ServerNeed, string>>>
}

export function urlTarget(
  { url, token, ...security }: Reach,
  { name, etcd, cbor = false, lacks = {} }: UrlTargetOptions,
): ServerTarget {
  return {
    name,
    lacks: {
      ...(etcd === undefined && { compaction: 'its history cannot be forgotten on demand' }),
      ...(!cbor && { cbor: 'the feature gate is off' }),
      // Without controllers, nothing collects garbage.
      ...(lacks.still === undefined && { collector: 'no controllers run' }),
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
