/**
 * The tested versions of `@kubernetes/client-node`, behind the types of the first.
 */
import type * as clientNode from '@kubernetes/client-node'

export type ClientNode = typeof clientNode

interface Version {
  readonly name: string
  /** Why it cannot be tested here. */
  readonly unavailable?: string
  load(): Promise<ClientNode>
}

const nodeMajor = Number(process.versions.node.split('.')[0])

export const versions: readonly Version[] = [
  { name: 'client-node 1', load: () => import('@kubernetes/client-node') },
  {
    name: 'client-node 2',
    ...(nodeMajor < 22 && { unavailable: 'it needs Node 22' }),
    load: async () => (await import('client-node-2')) as unknown as ClientNode,
  },
]
