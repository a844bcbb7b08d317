/**
 * The dependency graph of all declarations of one process, to find cycles.
 *
 * Edges are not stored. They are computed from the cached objects with the functions of the declarations, so they are
 * always current. Objects in a cycle wait for each other and never become ready; each of them reports the cycle.
 *
 * Example: Route a needs App b, App b needs Database c, and Database c needs Route a. The check of a's reference to b
 * searches a path b ──▶ c ──▶ a and reports `Route a → App b → Database c → Route a`. Optional references are no edges.
 */
import type { Kind, KubeObject } from '#api'
import type { ObjectCache } from '#cache'
import { refKey, refOf, type ObjectRef } from './reference.ts'

/** The part of the graph that one declaration contributes. */
interface GraphPart {
  readonly kind: Pick<Kind, 'group' | 'kind' | 'scope'>
  find(ref: ObjectRef): KubeObject | undefined
  /** The required references of an object. */
  needs(object: KubeObject): readonly ObjectRef[]
}

/** The search stops after this many objects. */
const visitedMax = 10_000

class Graph {
  readonly #parts = new Set<GraphPart>()

  /** Adds a part. @returns a function that removes it */
  add(part: GraphPart): () => void {
    this.#parts.add(part)
    return () => {
      this.#parts.delete(part)
    }
  }

  /** The shortest path between two objects along required references, both included; deterministic. */
  path(from: ObjectRef, to: ObjectRef): readonly ObjectRef[] | undefined {
    const goal = refKey(to)
    const start = this.#normalize(from)
    const queue: Step[] = [{ ref: start, before: undefined }]
    const seen = new Set([refKey(start)])
    for (let index = 0; index < queue.length && index < visitedMax; index++) {
      const step = queue[index] as Step
      if (refKey(step.ref) === goal) return pathTo(step)
      for (const ref of this.#needs(step.ref)) {
        const key = refKey(ref)
        if (seen.has(key)) continue
        seen.add(key)
        queue.push({ ref, before: step })
      }
    }
    return undefined
  }

  #needs(ref: ObjectRef): ObjectRef[] {
    return [...this.#parts]
      .filter(({ kind }) => kind.group === ref.group && kind.kind === ref.kind)
      .flatMap((part) => {
        const object = part.find(part.kind.scope === 'Cluster' ? { ...ref, namespace: '' } : ref)
        return object ? part.needs(object).map((needed) => this.#normalize(needed)) : []
      })
  }

  /** Removes the namespace of a reference to a cluster-scoped kind. */
  #normalize(ref: ObjectRef): ObjectRef {
    const isCluster = [...this.#parts].some(
      ({ kind }) => kind.group === ref.group && kind.kind === ref.kind && kind.scope === 'Cluster',
    )
    return isCluster ? { ...ref, namespace: '' } : ref
  }
}

interface Step {
  readonly ref: ObjectRef
  readonly before: Step | undefined
}

function pathTo(last: Step): ObjectRef[] {
  const path: ObjectRef[] = []
  for (let step: Step | undefined = last; step; step = step.before) path.unshift(step.ref)
  return path
}

const graphs = new WeakMap<ObjectCache, Graph>()

/** The graph of all declarations that read from a cache. */
export function graphOf(cache: ObjectCache): Graph {
  const graph = graphs.get(cache) ?? new Graph()
  graphs.set(cache, graph)
  return graph
}

/** The cycle through an object and one of its references, starting and ending with the object. */
export function cycleThrough(cache: ObjectCache, object: KubeObject, ref: ObjectRef): readonly ObjectRef[] | undefined {
  const self = refOf(object)
  const path = graphOf(cache).path(ref, self)
  return path && [self, ...path]
}
