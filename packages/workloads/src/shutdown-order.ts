/**
 * In which order workloads are stopped: consumers before the providers that they depend on.
 *
 *   web ──▶ api ──▶ db          web first, then api, then db
 *   worker ───────▶ db          worker at once, beside web: db waits for both
 *
 * Something without a process of its own (a Service, a ProcessSet) stands between two that have one: its consumers wait for its
 * members. What depends on each other in a circle is stopped together.
 *
 * Invariants: `stop` is called once per node; a node whose consumers are all stopped does not wait for anything else, so one that
 * hangs delays only its providers.
 */
import { onAbort } from 'evenkeel/unstable/base'
import type { StopPlan } from './termination.ts'

/** Names an object: `Process/default/web`. */
export function workloadKey(
  kind: string,
  { namespace = 'default', name }: { readonly namespace?: string | undefined; readonly name: string },
): string {
  return `${kind}/${namespace}/${name}`
}

export interface StoppableNode {
  readonly key: string
  /** The keys of what it depends on. */
  readonly providers: readonly string[]
}

/**
 * Stops all nodes, consumers first. When `hurry` aborts, those that wait are stopped at once.
 *
 * @example
 * await stopInOrder([{ key: 'web', providers: ['db'] }, { key: 'db', providers: [] }], async ({ key }) => console.log(key))
 */
export async function stopInOrder<Node extends StoppableNode>(
  nodes: readonly Node[],
  stop: (node: Node) => Promise<void>,
  { hurry }: { readonly hurry?: AbortSignal } = {},
): Promise<void> {
  const waiting = new Set(nodes)
  const stopping = new Map<Node, Promise<void>>()
  let wake: () => void = () => undefined
  const removeListener = onAbort(hurry, () => {
    wake()
  })
  try {
    while (waiting.size > 0 || stopping.size > 0) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      const isHurried = hurry?.aborted === true
      for (const node of isHurried ? [...waiting] : stoppable([...waiting], [...stopping.keys()])) {
        waiting.delete(node)
        stopping.set(
          node,
          stop(node).finally(() => stopping.delete(node)),
        )
      }
      if (stopping.size > 0) await Promise.race([...stopping.values(), ...(isHurried ? [] : [woken])])
    }
  } finally {
    removeListener()
    await Promise.allSettled(stopping.values())
  }
}

/** Those without a consumer that is alive; if there are none and nothing is stopping, those in a circle. */
function stoppable<Node extends StoppableNode>(waiting: readonly Node[], stopping: readonly Node[]): readonly Node[] {
  const alive = [...waiting, ...stopping]
  const free = waiting.filter((node) => !alive.some((one) => one !== node && one.providers.includes(node.key)))
  if (free.length > 0 || stopping.length > 0) return free
  const circle = waiting.filter((node) => reaches(node, node.key, waiting))
  return circle.length > 0 ? circle : waiting
}

function reaches(from: StoppableNode, key: string, nodes: readonly StoppableNode[]): boolean {
  const seen = new Set<string>()
  const next = [...from.providers]
  for (let at = next.pop(); at !== undefined; at = next.pop()) {
    if (at === key) return true
    if (seen.has(at)) continue
    seen.add(at)
    next.push(...(nodes.find((node) => node.key === at)?.providers ?? []))
  }
  return false
}

interface OrderEntry extends Partial<StopPlan> {
  /** What it depends on, by key. */
  readonly providers: readonly string[]
  /** Whose part it is, by key: the ProcessSet of a Process. */
  readonly parts?: readonly string[]
}

/** What the controllers know about the order, kept up to date by each reconcile. */
export class ShutdownOrder {
  readonly #entries = new Map<string, OrderEntry>()
  readonly #keys = new Map<string, string>()

  /** Replaces what is known about an object. */
  declare(object: { readonly uid: string; readonly key: string }, entry: OrderEntry): void {
    this.#keys.set(object.uid, object.key)
    this.#entries.set(object.key, entry)
  }

  forget(uid: string): void {
    const key = this.#keys.get(uid)
    if (key !== undefined) this.#entries.delete(key)
    this.#keys.delete(uid)
  }

  keyOf(uid: string): string | undefined {
    return this.#keys.get(uid)
  }

  /** How an object wants to be stopped. */
  planOf(key: string): Partial<StopPlan> {
    const { signal, graceMs } = this.#entries.get(key) ?? {}
    return { ...(signal && { signal }), ...(graceMs !== undefined && { graceMs }) }
  }

  /** The providers of a node among these, also those behind something that has no process itself. */
  providersOf(key: string, among: ReadonlySet<string>): readonly string[] {
    const found = new Set<string>()
    const seen = new Set([key])
    const next = [...(this.#entries.get(key)?.providers ?? [])]
    for (let at = next.pop(); at !== undefined; at = next.pop()) {
      if (seen.has(at)) continue
      seen.add(at)
      if (among.has(at)) found.add(at)
      else next.push(...(this.#entries.get(at)?.providers ?? []), ...this.#membersOf(at))
    }
    return [...found]
  }

  #membersOf(key: string): readonly string[] {
    return [...this.#entries].flatMap(([member, { parts = [] }]) => (parts.includes(key) ? [member] : []))
  }
}
