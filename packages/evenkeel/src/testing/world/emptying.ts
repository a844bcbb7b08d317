/**
 * The namespace controller of a simulated world: what is in a namespace that is being deleted goes, then the namespace.
 *
 * It sees the true world, one object at a time, as an action like any other.
 */
import { isJsonObject } from '#api'
import type { UnstructuredObject } from '#api'
import type { History } from './chronicle.ts'
import type { ClusterAction } from './collector.ts'

export function nextNamespaceDeletion({ objects }: Pick<History, 'objects'>): ClusterAction | undefined {
  for (const namespace of objects.values()) {
    if (
      namespace.kind !== 'Namespace' ||
      namespace.metadata.deletionTimestamp === undefined ||
      finalizersOf(namespace).length === 0
    )
      continue
    const inside = [...objects.values()].filter(({ metadata }) => metadata.namespace === namespace.metadata.name)
    const next = inside.find(({ metadata }) => metadata.deletionTimestamp === undefined)
    if (next)
      return {
        about: `empty ${namespace.metadata.name ?? ''} of ${next.kind} ${next.metadata.name ?? ''}`,
        run: (direct) => direct.delete(next, { propagationPolicy: 'Background' }),
      }
    if (inside.length === 0)
      return {
        about: `let Namespace ${namespace.metadata.name ?? ''} go`,
        run: (direct) => direct.update({ ...namespace, spec: {} } as UnstructuredObject, 'finalize'),
      }
  }
  return undefined
}

function finalizersOf({ spec }: UnstructuredObject): readonly unknown[] {
  return isJsonObject(spec) && Array.isArray(spec['finalizers']) ? spec['finalizers'] : []
}
