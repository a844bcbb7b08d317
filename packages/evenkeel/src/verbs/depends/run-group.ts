/**
 * All dependencies of one object in one run: judged by declaration, told together, written about together.
 *
 * A controller may have several declarations of dependencies, and an object has one status. Nothing is said before all of
 * them have been judged: half of a list would be the loss of the other half.
 */
import type { KubeObject } from '#api'
import type { BaseContext, PluginRun } from '#controller'
import { dropEdges, isSameEdge, mergeEdges, recordedEdges, settleEdges } from './edges/edge.ts'
import type { Edge } from './edges/edge.ts'
import { Holds } from './edges/holds.ts'
import { settleUsages, usageKindFor } from './edges/usages.ts'
import type { WantedUsage } from './edges/usages.ts'
import type { FollowedDependencies } from './following/dependency-source.ts'
import { comparePlaces, placeKey } from './reference.ts'
import { conditionOf, conditionType, hasRoom, linesOf } from './report.ts'
import type { Judged } from './report.ts'

/** What a declaration writes about those it depends on. */
export interface EdgeWishes {
  readonly prefix: string | undefined
  readonly isHeld: boolean
  /** Why it is used, where Usages are made. */
  readonly usage: string | undefined
}

/** A declaration, as its group knows it. */
export interface GroupMember {
  edgesFor(run: Pick<PluginRun, 'kind'>): EdgeWishes
  followedIn(run: Pick<PluginRun, 'cache' | 'controller'>): FollowedDependencies
}

/** The finalizer on referers, and the one on what they hold. */
export function finalizersFor({ controller, kind: { group } }: Pick<PluginRun, 'controller' | 'kind'>): {
  readonly referer: string
  readonly held: string
} {
  const domain = group || 'evenkeel.dev'
  return { referer: `${domain}/dependencies`, held: `${domain}/in-use-by-${controller}`.slice(0, domain.length + 64) }
}

interface GroupParts {
  readonly base: BaseContext
  readonly run: PluginRun
  readonly members: readonly GroupMember[]
}

const groups = new WeakMap<AbortSignal, RunGroup>()

export class RunGroup {
  readonly #parts: GroupParts
  readonly #judged = new Map<GroupMember, readonly Judged[]>()
  #cannotMark = false

  constructor(parts: GroupParts) {
    this.#parts = parts
  }

  /** The group of a run; the first who asks makes it. */
  static of(parts: GroupParts): RunGroup {
    const group = groups.get(parts.base.signal) ?? new RunGroup(parts)
    groups.set(parts.base.signal, group)
    return group
  }

  /** Whether something could not be marked that may be possible later: nobody tells when. */
  get cannotMark(): boolean {
    return this.#cannotMark
  }

  /** Takes what a declaration found; with the last one, everything is told. */
  async add(member: GroupMember, judged: readonly Judged[]): Promise<void> {
    this.#judged.set(member, judged)
    const {
      members,
      run: { object, isCleanup },
    } = this.#parts
    if (object && !isCleanup && members.every((one) => this.#judged.has(one))) await this.#conclude(object)
  }

  /** Takes back everything that was written about other objects: by the record, and by what the spec says now. */
  async leave(referer: KubeObject): Promise<void> {
    const { base } = this.#parts
    const recorded = recordedEdges(referer)
    const named = this.#edges.filter((edge) => !recorded.some((old) => isSameEdge(old, edge)))
    await dropEdges([...recorded, ...named], { base, referer, holds: this.#holds(referer) })
  }

  /** A referer has gone: what it held, if it was not asked. */
  async sweep(): Promise<void> {
    await this.#holds(undefined).sweep()
  }

  async #conclude(referer: KubeObject): Promise<void> {
    const {
      base,
      run: { status, kind },
    } = this.#parts
    const all = [...this.#judged.values()].flat()
    const lines = linesOf(all, { referer, nowMs: base.clock.now(), isRecord: this.#needsRecord })
    if (kind.subresources.status) {
      const { holds, reason, message } = conditionOf(all)
      status?.condition(conditionType, holds, { reason, message })
    }
    if (this.#needsRecord)
      this.#tellTroubles(await settleEdges(this.#edges, { base, referer, holds: this.#holds(referer), lines }))
    // Not before: what a failed run says is written, and a line that is gone is an edge that nobody takes back.
    if (hasRoom(kind)) status?.set({ dependencies: lines.length === 0 ? undefined : lines } as never)
    await this.#settleUsages(referer)
  }

  #tellTroubles(troubles: readonly string[]): void {
    const { run, members } = this.#parts
    this.#cannotMark = troubles.length > 0
    if (!members.some((member) => member.edgesFor(run).prefix !== undefined)) return
    run.status?.condition(
      'DependenciesMarked',
      troubles.length === 0,
      troubles.length === 0 ? {} : { reason: 'CannotMark', message: troubles.slice(0, 5).join('; ') },
    )
  }

  get #needsRecord(): boolean {
    return needsRecord(this.#parts.members, this.#parts.run)
  }

  /** What is wanted of those objects that are there and may be known. */
  get #edges(): readonly Edge[] {
    const { run } = this.#parts
    return mergeEdges(
      [...this.#judged].flatMap(([member, judged]) => {
        const { prefix, isHeld } = member.edgesFor(run)
        if (prefix === undefined && !isHeld) return []
        return judged.flatMap(({ verdict: { place, object, apiVersion } }) =>
          object && apiVersion !== undefined
            ? [{ ...place, apiVersion, object, isHeld, prefixes: prefix === undefined ? [] : [prefix] }]
            : [],
        )
      }),
    )
  }

  #holds(leaving: KubeObject | undefined): Holds {
    const { base, run, members } = this.#parts
    const { referer: refererFinalizer, held } = finalizersFor(run)
    return new Holds({
      base,
      finalizer: held,
      refererFinalizer,
      leaving: leaving?.metadata.uid,
      followed: members.filter((member) => member.edgesFor(run).isHeld).map((member) => member.followedIn(run)),
    })
  }

  async #settleUsages(referer: KubeObject): Promise<void> {
    const { base, run, members } = this.#parts
    const using = members.filter((member) => member.edgesFor(run).usage !== undefined)
    const [first] = using
    if (!first) return
    const wanted = new Map<string, WantedUsage>()
    for (const member of using) {
      const { usage: reason = '' } = member.edgesFor(run)
      for (const {
        verdict: { place, object },
      } of this.#judged.get(member) ?? [])
        if (object && !wanted.has(placeKey(place))) wanted.set(placeKey(place), { of: place, reason })
    }
    await settleUsages(
      [...wanted.values()].sort((a, b) => comparePlaces(a.of, b.of)),
      { base, referer, kind: usageKindFor(run.kind), present: first.followedIn(run).usagesOf(referer) },
    )
  }
}

/** Whether anything is written on other objects, which has to be recorded first and taken back. */
export function needsRecord(members: readonly GroupMember[], run: Pick<PluginRun, 'kind'>): boolean {
  return members.some((member) => {
    const { prefix, isHeld } = member.edgesFor(run)
    return prefix !== undefined || isHeld
  })
}
