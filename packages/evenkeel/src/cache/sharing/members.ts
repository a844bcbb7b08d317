/**
 * The informers of a cache, each shared by all who asked for the same: last one out stops it.
 *
 * Invariants: there is one informer for a kind, form, namespace and selection; it runs while the cache runs and somebody
 * holds it; one that stopped is never started again, a new one is made.
 */
import { onAbort } from '#base'
import type { Logger } from '#base'
import { formatFieldRequirements, formatLabelRequirements, parseFieldSelector } from '#api'
import type { KubeObject } from '#api'
import type { Informer } from '../informer.ts'
import { isPickedKind } from '../storing/pick.ts'
import type { CacheKind } from '../storing/pick.ts'
import { requirementsOf } from '../storing/query.ts'
import type { CacheScope } from '../storing/query.ts'

/** One informer and who holds it. */
export interface Member {
  readonly id: string
  readonly kindId: string
  readonly kind: CacheKind
  readonly scope: CacheScope
  readonly informer: Informer<KubeObject>
  /** What was asked for beside the scope; others must ask for the same. */
  readonly transform: unknown
  holders: number
  controller: AbortController | undefined
  done: Promise<void> | undefined
}

interface NewMember {
  readonly kind: CacheKind
  readonly scope: CacheScope
  readonly transform: unknown
  readonly make: () => Informer<KubeObject>
}

export class Members {
  readonly #members = new Map<string, Member>()
  readonly #log: Logger
  #signal: AbortSignal | undefined

  constructor({ log }: { log: Logger }) {
    this.#log = log
  }

  get all(): readonly Member[] {
    return [...this.#members.values()]
  }

  /** Those of a kind in its form, the widest first. */
  ofKind(kind: CacheKind): readonly Member[] {
    const kindId = kindIdOf(kind)
    return this.all.filter((member) => member.kindId === kindId).sort((a, b) => widthOf(b) - widthOf(a))
  }

  /** The one that is there, or a new one, which begins at once if the cache runs. @throws {RangeError} when another transform is in use. */
  hold({ kind, scope, transform, make }: NewMember): Member {
    const kindId = kindIdOf(kind)
    const id = `${kindId} ${scopeIdOf(scope)}`
    const known = this.#members.get(id)
    if (known) {
      if (known.transform !== transform) throw new RangeError(`somebody holds ${kind.kind} with another transform: share the function, or choose another selection`)
      known.holders++
      return known
    }
    const member: Member = { id, kindId, kind, scope, transform, informer: make(), holders: 1, controller: undefined, done: undefined }
    this.#members.set(id, member)
    if (this.#signal && !this.#signal.aborted) this.#start(member)
    return member
  }

  /** Lets go. Resolves when the informer has stopped, if nobody else holds it. */
  async release(member: Member): Promise<void> {
    if (--member.holders > 0) return
    this.#members.delete(member.id)
    member.controller?.abort(new Error('nobody needs the informer any more'))
    await member.done
  }

  /** Starts all, and those that come later; resolves when all have stopped. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#signal && !this.#signal.aborted) throw new RangeError('the cache runs already')
    this.#signal = signal
    for (const member of this.#members.values()) this.#start(member)
    await new Promise<void>((resolve) => { onAbort(signal, () => { resolve() }) })
    for (const { controller } of this.#members.values()) controller?.abort(signal.reason)
    for (const { done } of this.all) await done
  }

  #start(member: Member): void {
    member.controller = new AbortController()
    member.done = member.informer.run(member.controller.signal).catch((error: unknown) => {
      this.#log.error('an informer ended by a mistake of ours', { kind: member.kind.kind, error })
    })
  }
}

/** A kind in its form: the same kind picked by other paths is another. */
function kindIdOf(kind: CacheKind): string {
  const form = isPickedKind(kind) ? `pick ${kind.paths.join(',')}` : 'metadataOnly' in kind ? 'metadata' : 'whole'
  return `${kind.apiVersion} ${kind.kind} ${form}`
}

function scopeIdOf({ namespace, labelSelector, fieldSelector }: CacheScope): string {
  const labels = formatLabelRequirements(requirementsOf(labelSelector))
  const fields = typeof fieldSelector === 'object' ? Object.entries(fieldSelector).map(([field, value]) => ({ field, operator: '=' as const, value })) : parseFieldSelector(fieldSelector ?? '')
  return JSON.stringify([namespace ?? null, labels, formatFieldRequirements(fields)])
}

/** More for those that hold more: without selectors, of all namespaces. */
function widthOf({ scope: { namespace, labelSelector, fieldSelector } }: Member): number {
  return (labelSelector === undefined && fieldSelector === undefined ? 2 : 0) + (namespace === undefined ? 1 : 0)
}
