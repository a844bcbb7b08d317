/**
 * All dependencies of one object in one run: judged by declaration, told together, written about together.
 *
 * A controller may have several declarations of dependencies, and an object has one status. Nothing is said before all of
 * them have been judged: half of a list would be the loss of the other half.
 */
import type { KubeObject } from '#api'
import type { BaseContext, PluginRun } from '#controller'
import type { FollowedDependencies } from './dependency-source.ts'
import {
  applyEdges,
  isSameEdge,
  mergeEdges,
  ProtectionFinalizers,
  recordedEdges,
  removeEdges,
  type Edge,
} from './edges.ts'
import { compareRefs, refKey } from './reference.ts'
import { conditionType, dependencyCondition, hasDependencyStatus, linesOf, type CheckedDependency } from './status.ts'
import { applyUsages, usageKindFor, type DesiredUsage } from './usages.ts'

/** What a declaration writes about those it depends on. */
export interface EdgeRequest {
  readonly prefix: string | undefined
  readonly isProtected: boolean
  /** Why it is used, where Usages are made. */
  readonly usage: string | undefined
}

/** A declaration, as its group knows it. */
export interface DependencyRunMember {
  edgesFor(run: Pick<PluginRun, 'kind'>): EdgeRequest
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

interface DependencyRunParts {
  readonly base: BaseContext
  readonly run: PluginRun
  readonly members: readonly DependencyRunMember[]
}

const runs = new WeakMap<AbortSignal, DependencyRun>()

export class DependencyRun {
  readonly #parts: DependencyRunParts
  readonly #checked = new Map<DependencyRunMember, readonly CheckedDependency[]>()
  #cannotAnnotate = false

  constructor(parts: DependencyRunParts) {
    this.#parts = parts
  }

  /** The group of a run; the first who asks makes it. */
  static of(parts: DependencyRunParts): DependencyRun {
    const group = runs.get(parts.base.signal) ?? new DependencyRun(parts)
    runs.set(parts.base.signal, group)
    return group
  }

  /** Whether something could not be marked that may be possible later: nobody tells when. */
  get cannotAnnotate(): boolean {
    return this.#cannotAnnotate
  }

  /** Takes what a declaration found; with the last one, everything is told. */
  async add(member: DependencyRunMember, judged: readonly CheckedDependency[]): Promise<void> {
    this.#checked.set(member, judged)
    const {
      members,
      run: { object, isCleanup },
    } = this.#parts
    if (object && !isCleanup && members.every((one) => this.#checked.has(one))) await this.#conclude(object)
  }

  /** Takes back everything that was written about other objects: by the record, and by what the spec says now. */
  async cleanUp(referer: KubeObject): Promise<void> {
    const { base } = this.#parts
    const recorded = recordedEdges(referer)
    const named = this.#edges.filter((edge) => !recorded.some((old) => isSameEdge(old, edge)))
    await removeEdges([...recorded, ...named], { base, referer, protection: this.#protection(referer) })
  }

  /** A referer has gone: what it held, if it was not asked. */
  async sweep(): Promise<void> {
    await this.#protection(undefined).sweep()
  }

  async #conclude(referer: KubeObject): Promise<void> {
    const {
      base,
      run: { status, kind },
    } = this.#parts
    const all = [...this.#checked.values()].flat()
    const lines = linesOf(all, { referer, nowMs: base.clock.now(), isRecord: this.#needsRecord })
    if (kind.subresources.status) {
      const { holds, reason, message } = dependencyCondition(all)
      status?.condition(conditionType, holds, { reason, message })
    }
    if (this.#needsRecord)
      this.#reportProblems(
        await applyEdges(this.#edges, { base, referer, protection: this.#protection(referer), lines }),
      )
    // Not before: what a failed run says is written, and a line that is gone is an edge that nobody takes back.
    if (hasDependencyStatus(kind)) status?.set({ dependencies: lines.length === 0 ? undefined : lines } as never)
    await this.#applyUsages(referer)
  }

  #reportProblems(troubles: readonly string[]): void {
    const { run, members } = this.#parts
    this.#cannotAnnotate = troubles.length > 0
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
      [...this.#checked].flatMap(([member, judged]) => {
        const { prefix, isProtected: isHeld } = member.edgesFor(run)
        if (prefix === undefined && !isHeld) return []
        return judged.flatMap(({ check: { ref: place, object, apiVersion } }) =>
          object && apiVersion !== undefined
            ? [{ ...place, apiVersion, object, isProtected: isHeld, prefixes: prefix === undefined ? [] : [prefix] }]
            : [],
        )
      }),
    )
  }

  #protection(leaving: KubeObject | undefined): ProtectionFinalizers {
    const { base, run, members } = this.#parts
    const { referer: refererFinalizer, held } = finalizersFor(run)
    return new ProtectionFinalizers({
      base,
      finalizer: held,
      refererFinalizer,
      leaving: leaving?.metadata.uid,
      followed: members.filter((member) => member.edgesFor(run).isProtected).map((member) => member.followedIn(run)),
    })
  }

  async #applyUsages(referer: KubeObject): Promise<void> {
    const { base, run, members } = this.#parts
    const using = members.filter((member) => member.edgesFor(run).usage !== undefined)
    const [first] = using
    if (!first) return
    const wanted = new Map<string, DesiredUsage>()
    for (const member of using) {
      const { usage: reason = '' } = member.edgesFor(run)
      for (const {
        check: { ref: place, object },
      } of this.#checked.get(member) ?? [])
        if (object && !wanted.has(refKey(place))) wanted.set(refKey(place), { of: place, reason })
    }
    await applyUsages(
      [...wanted.values()].sort((a, b) => compareRefs(a.of, b.of)),
      { base, referer, kind: usageKindFor(run.kind), present: first.followedIn(run).usagesOf(referer) },
    )
  }
}

/** Whether anything is written on other objects, which has to be recorded first and taken back. */
export function needsRecord(members: readonly DependencyRunMember[], run: Pick<PluginRun, 'kind'>): boolean {
  return members.some((member) => {
    const { prefix, isProtected: isHeld } = member.edgesFor(run)
    return prefix !== undefined || isHeld
  })
}
