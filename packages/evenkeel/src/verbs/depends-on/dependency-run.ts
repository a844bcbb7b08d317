/**
 * All dependencies of one object in one run, across the declarations of its controller.
 *
 * A controller may have several `dependsOn` declarations, and an object has one `status.dependencies`. Nothing is reported
 * before every declaration is checked: a partial list would delete the entries, and with them the edges, of the others.
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

/** What a declaration writes about its dependencies. */
export interface EdgeRequest {
  readonly prefix: string | undefined
  readonly isProtected: boolean
  /** The reason for the Usage; undefined without Usages. */
  readonly usage: string | undefined
}

/** A declaration, as {@link DependencyRun} sees it. */
export interface DependencyRunMember {
  edgesFor(run: Pick<PluginRun, 'kind'>): EdgeRequest
  followedIn(run: Pick<PluginRun, 'cache' | 'controller'>): FollowedDependencies
}

/** The finalizer of referers, and the finalizer that protects their dependencies. */
export function finalizersFor({ controller, kind: { group } }: Pick<PluginRun, 'controller' | 'kind'>): {
  readonly referer: string
  readonly dependency: string
} {
  const domain = group || 'evenkeel.dev'
  return {
    referer: `${domain}/dependencies`,
    dependency: `${domain}/in-use-by-${controller}`.slice(0, domain.length + 64),
  }
}

interface DependencyRunOptions {
  readonly base: BaseContext
  readonly run: PluginRun
  readonly members: readonly DependencyRunMember[]
}

const runs = new WeakMap<AbortSignal, DependencyRun>()

export class DependencyRun {
  readonly #options: DependencyRunOptions
  readonly #checked = new Map<DependencyRunMember, readonly CheckedDependency[]>()
  #cannotAnnotate = false

  constructor(options: DependencyRunOptions) {
    this.#options = options
  }

  /** The instance of a run, created by the first declaration that asks. */
  static of(options: DependencyRunOptions): DependencyRun {
    const group = runs.get(options.base.signal) ?? new DependencyRun(options)
    runs.set(options.base.signal, group)
    return group
  }

  /** Whether an annotation failed. No event reports that it would succeed now. */
  get cannotAnnotate(): boolean {
    return this.#cannotAnnotate
  }

  /** Adds the checks of a declaration. The last one concludes the run. */
  async add(member: DependencyRunMember, checked: readonly CheckedDependency[]): Promise<void> {
    this.#checked.set(member, checked)
    const {
      members,
      run: { object, isCleanup },
    } = this.#options
    if (object && !isCleanup && members.every((one) => this.#checked.has(one))) await this.#conclude(object)
  }

  /** Removes all edges of a referer: the recorded ones, and those of its current spec. */
  async cleanUp(referer: KubeObject): Promise<void> {
    const { base } = this.#options
    const recorded = recordedEdges(referer)
    const named = this.#edges.filter((edge) => !recorded.some((old) => isSameEdge(old, edge)))
    await removeEdges([...recorded, ...named], { base, referer, protection: this.#protection(referer) })
  }

  /** Removes the protection that a referer has left behind, because its own finalizer was removed by force. */
  async sweep(): Promise<void> {
    await this.#protection(undefined).sweep()
  }

  async #conclude(referer: KubeObject): Promise<void> {
    const {
      base,
      run: { status, kind },
    } = this.#options
    const all = [...this.#checked.values()].flat()
    const lines = linesOf(all, { referer, nowMs: base.clock.now(), isRecord: this.#needsRecord })
    if (kind.subresources.status) {
      const { isReady, reason, message } = dependencyCondition(all)
      status?.condition(conditionType, isReady, { reason, message })
    }
    if (this.#needsRecord)
      this.#reportProblems(
        await applyEdges(this.#edges, { base, referer, protection: this.#protection(referer), lines }),
      )
    // After the edges: a failed run writes its status too, and an edge without an entry would never be removed.
    if (hasDependencyStatus(kind)) status?.set({ dependencies: lines.length === 0 ? undefined : lines } as never)
    await this.#applyUsages(referer)
  }

  #reportProblems(problems: readonly string[]): void {
    const { run, members } = this.#options
    this.#cannotAnnotate = problems.length > 0
    if (!members.some((member) => member.edgesFor(run).prefix !== undefined)) return
    run.status?.condition(
      'DependenciesAnnotated',
      problems.length === 0,
      problems.length === 0 ? {} : { reason: 'AnnotateFailed', message: problems.slice(0, 5).join('; ') },
    )
  }

  get #needsRecord(): boolean {
    return needsRecord(this.#options.members, this.#options.run)
  }

  /** The desired edges to all dependencies that exist and may be referred to. */
  get #edges(): readonly Edge[] {
    const { run } = this.#options
    return mergeEdges(
      [...this.#checked].flatMap(([member, checked]) => {
        const { prefix, isProtected } = member.edgesFor(run)
        if (prefix === undefined && !isProtected) return []
        return checked.flatMap(({ check: { ref, object, apiVersion } }) =>
          object && apiVersion !== undefined
            ? [{ ...ref, apiVersion, object, isProtected, prefixes: prefix === undefined ? [] : [prefix] }]
            : [],
        )
      }),
    )
  }

  #protection(leaving: KubeObject | undefined): ProtectionFinalizers {
    const { base, run, members } = this.#options
    const { referer: refererFinalizer, dependency } = finalizersFor(run)
    return new ProtectionFinalizers({
      base,
      finalizer: dependency,
      refererFinalizer,
      leaving: leaving?.metadata.uid,
      followed: members.filter((member) => member.edgesFor(run).isProtected).map((member) => member.followedIn(run)),
    })
  }

  async #applyUsages(referer: KubeObject): Promise<void> {
    const { base, run, members } = this.#options
    const using = members.filter((member) => member.edgesFor(run).usage !== undefined)
    const [first] = using
    if (!first) return
    const desired = new Map<string, DesiredUsage>()
    for (const member of using) {
      const { usage: reason = '' } = member.edgesFor(run)
      for (const {
        check: { ref, object },
      } of this.#checked.get(member) ?? [])
        if (object && !desired.has(refKey(ref))) desired.set(refKey(ref), { of: ref, reason })
    }
    await applyUsages(
      [...desired.values()].sort((a, b) => compareRefs(a.of, b.of)),
      { base, referer, kind: usageKindFor(run.kind), present: first.followedIn(run).usagesOf(referer) },
    )
  }
}

/** Whether other objects are written, which must be recorded before and removed later. */
export function needsRecord(members: readonly DependencyRunMember[], run: Pick<PluginRun, 'kind'>): boolean {
  return members.some((member) => {
    const { prefix, isProtected } = member.edgesFor(run)
    return prefix !== undefined || isProtected
  })
}
