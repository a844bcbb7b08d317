/**
 * In which order the items of two lists come out when they are merged.
 *
 * Live order is kept; items that both lists have come in the order of the configuration, and items only the
 * configuration has come where their neighbours there are.
 *
 *     live [a b c d], config [x c b]   ──▶   [a x c d b]
 */
import type { PathElement } from '../paths/element.ts'

interface OrderedItem {
  readonly element: PathElement
  /** Where the item stands in the live list, if that is where it is taken from; otherwise -1. */
  readonly liveIndex: number
}

/** Both lists as elements; the configuration names each at most once, the live list may repeat some. */
export function mergeOrder(live: readonly PathElement[], config: readonly PathElement[]): OrderedItem[] {
  const inLive = new Set(live)
  const inConfig = new Set(config)
  const shared = config.filter((element) => inLive.has(element))
  const taken = new Set<PathElement>()
  const order: OrderedItem[] = []
  let next = 0
  for (let at = 0, wanted = 0; at < live.length || wanted < config.length;) {
    const [here, want] = [live[at], config[wanted]]
    if (
      here !== undefined &&
      want !== undefined &&
      here !== want &&
      inConfig.has(here) &&
      shared[next] !== undefined &&
      shared[next] !== here
    ) {
      // Both have it, but the configuration wants another one first.
      at++
      continue
    }
    if (here !== undefined && here !== want) {
      if (!inConfig.has(here)) {
        order.push({ element: here, liveIndex: at++ })
        continue
      }
      if (taken.has(here)) at++
    }
    if (want === undefined) continue
    if (here === want) at++
    if (here === want || shared[next] === want) next++
    taken.add(want)
    order.push({ element: want, liveIndex: -1 })
    wanted++
  }
  return order
}
