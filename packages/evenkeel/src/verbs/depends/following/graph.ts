/**
 * Who depends on whom, across all the declarations of one process: to find circles.
 *
 * Edges are not kept: they are asked of the objects in the cache, with the functions of the declarations, so that they
 * are always those of now. Objects that wait for each other in a circle never become ready; each of them can say so.
 */
import type { Kind, KubeObject } from '#api'
import type { ObjectCache } from '#cache'
import { placeKey, placeOf } from '../reference.ts'
import type { Place } from '../reference.ts'

/** What one declaration knows. */
interface GraphPart {
  readonly kind: Pick<Kind, 'group' | 'kind' | 'scope'>
  find(place: Place): KubeObject | undefined
  /** What an object cannot do without. */
  needs(object: KubeObject): readonly Place[]
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
  way(from: Place, to: Place): readonly Place[] | undefined {
    const goal = placeKey(to)
    const start = this.#settled(from)
    const queue: Step[] = [{ place: start, before: undefined }]
    const seen = new Set([placeKey(start)])
    for (let index = 0; index < queue.length && index < visitedMax; index++) {
      const step = queue[index] as Step
      if (placeKey(step.place) === goal) return wayTo(step)
      for (const place of this.#needs(step.place)) {
        const key = placeKey(place)
        if (seen.has(key)) continue
        seen.add(key)
        queue.push({ place, before: step })
      }
    }
    return undefined
  }

  #needs(place: Place): Place[] {
    return [...this.#parts]
      .filter(({ kind }) => kind.group === place.group && kind.kind === place.kind)
      .flatMap((part) => {
        const object = part.find(part.kind.scope === 'Cluster' ? { ...place, namespace: '' } : place)
        return object ? part.needs(object).map((needed) => this.#settled(needed)) : []
      })
  }

  /** A reference may name a namespace where the kind has none. */
  #settled(place: Place): Place {
    const isCluster = [...this.#parts].some(
      ({ kind }) => kind.group === place.group && kind.kind === place.kind && kind.scope === 'Cluster',
    )
    return isCluster ? { ...place, namespace: '' } : place
  }
}

interface Step {
  readonly place: Place
  readonly before: Step | undefined
}

function wayTo(last: Step): Place[] {
  const way: Place[] = []
  for (let step: Step | undefined = last; step; step = step.before) way.unshift(step.place)
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
export function circleThrough(cache: ObjectCache, object: KubeObject, place: Place): readonly Place[] | undefined {
  const self = placeOf(object)
  const way = graphOf(cache).way(place, self)
  return way && [self, ...way]
}
