/**
 * Who depends on whom, across all the declarations of one process: to find circles.
 *
 * Edges are not kept: they are asked of the objects in the cache, with the functions of the declarations, so that they
 * are always those of now. Objects that wait for each other in a circle never become ready; each of them can say so.
 */
import type { Kind, KubeObject } from '#api'
import type { ObjectCache } from '#cache'
import { refKey, refOf, type ObjectRef } from './reference.ts'

/** What one declaration knows. */
interface GraphPart {
  readonly kind: Pick<Kind, 'group' | 'kind' | 'scope'>
  find(place: ObjectRef): KubeObject | undefined
  /** What an object cannot do without. */
  needs(object: KubeObject): readonly ObjectRef[]
}

/** Whoever has more of them in reach has other troubles. */
const visitedMax = 10_000

class Graph {
  readonly #parts = new Set<GraphPart>()

  /** Takes part until the function that it gives is called. */
  add(part: GraphPart): () => void {
    this.#parts.add(part)
    return () => {
      this.#parts.delete(part)
    }
  }

  /** The way from one place to another along what objects need, both included; the shortest, and always the same one. */
  path(from: ObjectRef, to: ObjectRef): readonly ObjectRef[] | undefined {
    const goal = refKey(to)
    const start = this.#settled(from)
    const queue: Step[] = [{ ref: start, before: undefined }]
    const seen = new Set([refKey(start)])
    for (let index = 0; index < queue.length && index < visitedMax; index++) {
      const step = queue[index] as Step
      if (refKey(step.ref) === goal) return pathTo(step)
      for (const place of this.#needs(step.ref)) {
        const key = refKey(place)
        if (seen.has(key)) continue
        seen.add(key)
        queue.push({ ref: place, before: step })
      }
    }
    return undefined
  }

  #needs(place: ObjectRef): ObjectRef[] {
    return [...this.#parts]
      .filter(({ kind }) => kind.group === place.group && kind.kind === place.kind)
      .flatMap((part) => {
        const object = part.find(part.kind.scope === 'Cluster' ? { ...place, namespace: '' } : place)
        return object ? part.needs(object).map((needed) => this.#settled(needed)) : []
      })
  }

  /** A reference may name a namespace where the kind has none. */
  #settled(place: ObjectRef): ObjectRef {
    const isCluster = [...this.#parts].some(
      ({ kind }) => kind.group === place.group && kind.kind === place.kind && kind.scope === 'Cluster',
    )
    return isCluster ? { ...place, namespace: '' } : place
  }
}

interface Step {
  readonly ref: ObjectRef
  readonly before: Step | undefined
}

function pathTo(last: Step): ObjectRef[] {
  const way: ObjectRef[] = []
  for (let step: Step | undefined = last; step; step = step.before) way.unshift(step.ref)
  return way
}

const graphs = new WeakMap<ObjectCache, Graph>()

/** The graph of everything that reads from a cache. */
export function graphOf(cache: ObjectCache): Graph {
  const graph = graphs.get(cache) ?? new Graph()
  graphs.set(cache, graph)
  return graph
}

/** The circle that an object is part of through one of the places it needs, beginning and ending with the object. */
export function cycleThrough(
  cache: ObjectCache,
  object: KubeObject,
  place: ObjectRef,
): readonly ObjectRef[] | undefined {
  const self = refOf(object)
  const way = graphOf(cache).path(place, self)
  return way && [self, ...way]
}
