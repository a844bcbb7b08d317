/**
 * The informers of a cache, each shared by all who asked for the same objects: last one out stops it.
 *
 *   holders ──▶ member: a kind in a form, a namespace and a selection ──▶ source: one informer, for members of any form
 *
 * Who asks before the watch begins is part of what it brings; who comes later shares it if it brings enough. Invariants:
 * an informer runs while the cache runs and somebody holds it; one that stopped is never started again, a new one is made.
 */
import { abortable, nextTurn, onAbort, Stopper } from '#base'
import type { Clock, Logger } from '#base'
import { formatFieldRequirements, formatLabelRequirements, parseFieldSelector } from '#api'
import type { KubeObject } from '#api'
import type { Informer } from '../informer.ts'
import type { CacheKind } from '../storing/pick.ts'
import { requirementsOf } from '../storing/query.ts'
import type { CacheScope } from '../storing/query.ts'
import { formId, Union } from './union.ts'
import { View } from './view.ts'

/** One informer, and who reads from it. */
export interface SharedSource {
  /** Who may share it, form aside. */
  readonly id: string
  readonly union: Union
  readonly scope: CacheScope
  readonly informer: Informer<KubeObject>
  readonly members: Set<Member>
  controller: Stopper | undefined
  done: Promise<void> | undefined
}

/** What several hold in the same form. */
export interface Member {
  readonly id: string
  readonly kindId: string
  readonly kind: CacheKind
  readonly scope: CacheScope
  readonly source: SharedSource
  readonly view: View
  /** What was asked for beside the scope; others must ask for the same. */
  readonly transform: unknown
  holders: number
}

interface NewMember {
  readonly kind: CacheKind
  readonly scope: CacheScope
  readonly transform: unknown
  /** What else must be the same for two to share. */
  readonly manner: string
  /** Makes an informer that brings what the union says when it begins. */
  readonly make: (union: Union) => Informer<KubeObject>
}

interface MembersOptions {
  readonly clock: Clock
  readonly log: Logger
  /** An informer came, or went. */
  readonly onChange: () => void
}

export class Members {
  readonly #members = new Map<string, Member>()
  readonly #sources = new Set<SharedSource>()
  readonly #options: MembersOptions
  #signal: AbortSignal | undefined

  constructor(options: MembersOptions) {
    this.#options = options
  }

  get all(): readonly Member[] {
    return [...this.#members.values()]
  }

  get sources(): readonly SharedSource[] {
    return [...this.#sources]
  }

  /** Those of a kind in its form, the widest first. */
  ofKind(kind: CacheKind): readonly Member[] {
    const kindId = kindIdOf(kind)
    return this.all.filter((member) => member.kindId === kindId).sort((a, b) => widthOf(b) - widthOf(a))
  }

  /** The one that is there, or a new one, which begins in a moment if the cache runs. @throws {RangeError} when another transform is in use. */
  hold(wanted: NewMember): Member {
    const { kind, scope, transform, manner } = wanted
    const kindId = kindIdOf(kind)
    const id = `${kindId} ${scopeIdOf(scope)} ${manner}`
    const known = this.#members.get(id)
    if (known) {
      if (known.transform !== transform)
        throw new RangeError(
          `somebody holds ${kind.kind} with another transform: share the function, or choose another selection`,
        )
      known.holders++
      return known
    }
    const source = this.#sourceFor(wanted)
    source.union.add(kind)
    const member: Member = {
      id,
      kindId,
      kind,
      scope,
      transform,
      source,
      view: new View({ informer: source.informer, union: source.union, kind }),
      holders: 1,
    }
    source.members.add(member)
    this.#members.set(id, member)
    return member
  }

  /** Lets go. Resolves when the informer has stopped, if nobody else holds it. */
  async release(member: Member): Promise<void> {
    if (--member.holders > 0) return
    const { source } = member
    this.#members.delete(member.id)
    source.members.delete(member)
    member.view.close()
    if (source.members.size > 0) return
    this.#sources.delete(source)
    this.#options.onChange()
    source.controller?.abort(new Error('nobody needs the informer any more'))
    await source.done
  }

  /** Starts all, and those that come later; resolves when all have stopped. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#signal && !this.#signal.aborted) throw new RangeError('the cache runs already')
    this.#signal = signal
    for (const source of this.#sources) this.#start(source)
    await new Promise<void>((resolve) => {
      onAbort(signal, () => {
        resolve()
      })
    })
    for (const { controller } of this.#sources) controller?.abort(signal.reason)
    for (const { done } of this.sources) await done
  }

  /** One with a transform is nobody else's: nobody knows what it leaves. */
  #sourceFor({ kind, scope, transform, manner, make }: NewMember): SharedSource {
    const id = `${kind.apiVersion} ${kind.kind} ${scopeIdOf(scope)} ${manner}`
    const known =
      transform === undefined ? this.sources.find((source) => source.id === id && source.union.admits(kind)) : undefined
    if (known) return known
    const union = new Union(kind)
    if (transform !== undefined) union.settle()
    const source: SharedSource = {
      id: transform === undefined ? id : `${id} transformed`,
      union,
      scope,
      informer: make(union),
      members: new Set(),
      controller: undefined,
      done: undefined,
    }
    this.#sources.add(source)
    this.#options.onChange()
    if (this.#signal && !this.#signal.aborted) this.#start(source)
    return source
  }

  #start(source: SharedSource): void {
    const controller = (source.controller = new Stopper())
    source.done = this.#follow(source, controller.signal).catch((error: unknown) => {
      this.#options.log.error('an informer ended by a mistake of ours', { kind: source.union.kind.kind, error })
    })
  }

  async #follow({ union, informer }: SharedSource, signal: AbortSignal): Promise<void> {
    // Whoever asks in the same breath is still heard: programs hold one kind after the other.
    await abortable(nextTurn(this.#options.clock), { signal }).catch(() => undefined)
    union.settle()
    await informer.run(signal)
  }
}

/** A kind in its form. */
function kindIdOf(kind: CacheKind): string {
  return `${kind.apiVersion} ${kind.kind} ${formId(kind)}`
}

function scopeIdOf({ namespace, labelSelector, fieldSelector }: CacheScope): string {
  const labels = formatLabelRequirements(requirementsOf(labelSelector))
  const fields =
    typeof fieldSelector === 'object'
      ? Object.entries(fieldSelector).map(([field, value]) => ({ field, operator: '=' as const, value }))
      : parseFieldSelector(fieldSelector ?? '')
  return JSON.stringify([namespace ?? null, labels, formatFieldRequirements(fields)])
}

/** More for those that hold more: without selectors, of all namespaces. */
function widthOf({ scope: { namespace, labelSelector, fieldSelector } }: Member): number {
  return (labelSelector === undefined && fieldSelector === undefined ? 2 : 0) + (namespace === undefined ? 1 : 0)
}
