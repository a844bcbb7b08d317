/**
 * The quality of service of a pod, which decides who goes first when a node runs short.
 *
 * Guaranteed: every container limits cpu and memory and asks for exactly that. BestEffort: nobody asks for anything.
 * Burstable: everything in between.
 */
import { addQuantities, compareQuantities } from '#api'
import type { JsonObject, Quantity } from '#api'
import { quantityFrom } from '../quantities.ts'
import { objectIn, objectsIn, optionalObjectIn } from '../reading.ts'

const computed = ['cpu', 'memory']
type Sums = Map<string, Quantity>

export function qosClassOf(spec: JsonObject): 'BestEffort' | 'Burstable' | 'Guaranteed' {
  const whole = optionalObjectIn(spec, 'resources')
  const resources =
    whole === undefined
      ? [...objectsIn(spec, 'containers'), ...objectsIn(spec, 'initContainers')].map((container) =>
          objectIn(container, 'resources'),
        )
      : [whole]
  const [requests, limits]: [Sums, Sums] = [new Map(), new Map()]
  let isLimited = true
  for (const each of resources) {
    add(requests, objectIn(each, 'requests'))
    isLimited = add(limits, objectIn(each, 'limits')) === computed.length && isLimited
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort'
  return isLimited && isSame(requests, limits) ? 'Guaranteed' : 'Burstable'
}

/** Adds what is above zero and says how many resources that were. */
function add(sums: Sums, amounts: JsonObject): number {
  let count = 0
  for (const name of computed) {
    const quantity = Object.hasOwn(amounts, name) ? quantityFrom(amounts[name]) : undefined
    if (quantity === undefined || quantity.unscaled <= 0n) continue
    const sum = sums.get(name)
    sums.set(name, sum === undefined ? quantity : addQuantities(sum, quantity))
    count++
  }
  return count
}

function isSame(requests: Sums, limits: Sums): boolean {
  if (requests.size !== limits.size) return false
  return [...requests].every(([name, quantity]) => {
    const limit = limits.get(name)
    return limit !== undefined && compareQuantities(limit, quantity) === 0
  })
}
