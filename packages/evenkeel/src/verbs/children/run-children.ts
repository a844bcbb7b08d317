/**
 * The children of one run: those declared so far, and their readiness.
 *
 * Invariants: a run that does not use `children` prunes nothing, and reports the children that exist; a run that ends
 * early prunes nothing. What is reported is in `run-report.ts`.
 */
import { findCause, isApiError, isConflict, type Kind, type KubeObject, type TypeMeta } from '#api'
import { isUnknownKind } from '#client'
import { StopReconcile, type Reconciled } from '#controller'
import { readinessCheckFor, readinessOf, type ReadinessCheck } from '../readiness.ts'
import { applyChild, ChildProblem, newestParent, type ChildRun } from './apply.ts'
import type { ChildOptions, Children, DeclaredChild, OnceOptions } from './children.ts'
import {
  checkSame,
  childIdOf,
  describeId,
  idText,
  prepareChild,
  type DesiredChild,
  type PreparedChild,
} from './desired-child.ts'
import { observeChildren } from './child-readiness.ts'
import { createOnce, historyOf, onceName, seriesKey, seriesOf, type History } from './once.ts'
import { isApplied, ownedChildren, pruneChildren, remove, surveyChildren, type PruneResult } from './prune.ts'
import { isOutdated, reportChildren } from './run-report.ts'
import { RunWatches } from './run-watches.ts'
import { onceLabel, type HistoryLimits, type OnceSeries } from './ownership-labels.ts'
import { hasReport, reportsOn, type ObservedChild } from './status.ts'

/** One call of `apply`, normalized. */
interface ChildRequest {
  readonly kind: Kind | TypeMeta
  readonly desired: DesiredChild
  readonly options: ChildOptions<never> & { readonly revisions?: string; readonly once?: OnceSeries }
}

interface DeclaredChildState extends ObservedChild {
  readonly checkReadiness: ReadinessCheck
}

interface RunChildrenOptions {
  readonly checkDeterminism: boolean
}

export class RunChildren implements Children {
  readonly #run: ChildRun
  readonly #options: RunChildrenOptions
  readonly #watches: RunWatches
  readonly #declared = new Map<string, DeclaredChildState>()
  readonly #digests = new Map<string, string>()
  readonly #keys = new Map<string, string>()
  readonly #keep = new Map<string, number>()
  readonly #limits = new Map<string, HistoryLimits>()
  #pruned: PruneResult = { leaving: [], leavingElsewhere: [], staying: [] }
  #staying: readonly ObservedChild[] = []
  #superseded: ReadonlySet<string> = new Set()
  #waitsFor: string | undefined
  #isUsed = false
  #isFinished = false
  /** A child was applied for a later generation than this run has. */
  #isOutdated = false

  constructor(run: ChildRun, options: RunChildrenOptions) {
    this.#run = run
    this.#options = options
    this.#watches = new RunWatches(run)
  }

  async apply(first: unknown, second: unknown = {}, third: unknown = {}): Promise<never> {
    const request = isKind(first)
      ? { kind: first, desired: second, options: third }
      : { kind: first, desired: first, options: second }
    const [stored] = await this.#applyAll([request as ChildRequest])
    return stored as never
  }

  async declare(list: readonly DeclaredChild[] | (() => readonly DeclaredChild[])): Promise<readonly KubeObject[]> {
    const entries = typeof list === 'function' ? list() : list
    if (typeof list === 'function' && this.#options.checkDeterminism)
      checkSame(entries, list(), `the function passed to children.declare for ${this.#run.parent.kind}`)
    return await this.#applyAll(
      entries.map((one) =>
        isEntry(one)
          ? { kind: one[0], desired: one[1] as DesiredChild, options: one[2] ?? {} }
          : { kind: one, desired: one, options: {} },
      ),
    )
  }

  /** Applies a revision of a series that keeps this many old ones. */
  async applyRevision(
    request: ChildRequest & { readonly options: { readonly revisions: string } },
    keep: number,
  ): Promise<KubeObject> {
    this.#keep.set(request.options.revisions, keep)
    const [stored] = await this.#applyAll([request])
    return stored as KubeObject
  }

  async once(kind: Kind, desired: object, options: OnceOptions<never>): Promise<never> {
    const once = seriesOf(kind, options)
    const { metadata = {} } = desired as DesiredChild
    const name = onceName([metadata.name ?? this.#run.parent.metadata.name, options.name], options.key)
    this.#limits.set(seriesKey(kind.kind, once.series), once.keep)
    const { ready } = options
    const [stored] = await this.#applyAll([
      {
        kind,
        desired: { ...desired, metadata: { ...metadata, name } },
        options: { prune: false, once, ...(ready !== undefined && { ready }) },
      },
    ])
    return stored as never
  }

  none(): void {
    this.#use()
  }

  async get<K extends Kind>(kind: K, nameOrKey: string = this.#run.parent.metadata.name): Promise<never> {
    const keyed = this.#declared.get(this.#keys.get(nameOrKey) ?? '')
    if (keyed?.object && keyed.id.kind === kind.kind) return keyed.object as never
    const {
      base: { client, signal },
      parent,
    } = this.#run
    const key = {
      name: nameOrKey,
      ...(kind.scope === 'Namespaced' &&
        parent.metadata.namespace !== undefined && { namespace: parent.metadata.namespace }),
    }
    const found = (await client.find(kind, key, { signal })) as KubeObject | undefined
    return (found && isApplied(this.#run, found) ? found : undefined) as never
  }

  list(): readonly KubeObject[] {
    return ownedChildren(this.#run)
  }

  ready(): boolean {
    return [...this.#declared.values()].every(({ readiness }) => readiness.state === 'Ready')
  }

  async prune(): Promise<void> {
    this.#use()
    const objects = [...this.#declared.values()].flatMap(({ object }) => object ?? [])
    this.#pruned = await pruneChildren(this.#run, { ids: new Set(this.#declared.keys()), objects, keep: this.#keep })
    this.#staying = await observeChildren(this.#run, this.#pruned.staying)
  }

  waitFor<T extends KubeObject>(child: T, predicate?: (child: T) => boolean): T {
    const id = childIdOf(child)
    const checkReadiness = this.#declared.get(idText(id))?.checkReadiness ?? readinessOf
    const isMet = predicate ? predicate(child) : checkReadiness(child).state === 'Ready'
    if (isMet) return child
    const what = `${describeId(id, this.#run.parent)} ${predicate ? 'to meet the condition of its parent' : 'to be ready'}`
    this.#waitFor(what)
    throw new StopReconcile(`waiting for ${what}`, { result: { park: what } })
  }

  /** Ends a run that returned: prunes, reports, and updates the watches. */
  async finish(): Promise<Reconciled> {
    if (!this.#isUsed && this.#declared.size === 0 && !reportsOn(this.#run.run.kind)) return undefined
    this.#watches.resume({ isUsed: this.#isUsed })
    if (this.#isUsed) await this.prune()
    else await this.#survey()
    await this.#limitHistory()
    this.#isFinished = true
    if (this.#isUsed || this.#hasSomethingToReport) this.#report({ at: 'end' })
    await this.#watches.end(this.#observation)
    return undefined
  }

  /** Ends a run that ended early: reports the children that exist. Nothing is pruned, and every watch stays. */
  async stopped(): Promise<Reconciled> {
    if (this.#isFinished || this.#isOutdated || !reportsOn(this.#run.run.kind)) return undefined
    this.#watches.resume({ isUsed: this.#isUsed })
    await this.#survey()
    this.#noteHistory()
    if (!isOutdated(this.#run, this.#observation)) this.#report({ at: 'earlyEnd', waitsFor: this.#waitsFor })
    return undefined
  }

  /** Looks at the children that this run has not applied. */
  async #survey(): Promise<void> {
    this.#pruned = surveyChildren(this.#run, new Set(this.#declared.keys()))
    this.#staying = await observeChildren(this.#run, this.#pruned.staying)
  }

  /** Deletes the finished children beyond the limits of their series. */
  async #limitHistory(): Promise<void> {
    const { surplus } = this.#noteHistory()
    const removed = new Set(surplus.map(({ id }) => idText(id)))
    for (const { object } of surplus) await remove(this.#run, object)
    this.#staying = this.#staying.filter(({ id }) => !removed.has(idText(id)))
  }

  #noteHistory(): History {
    const { leaving } = this.#pruned
    const children = [...this.#staying, ...this.#declared.values()]
    const history = historyOf(this.#run, children, { named: new Set(this.#declared.keys()), limits: this.#limits })
    // A child of a series that is being deleted is history as well.
    const gone = leaving.filter(({ metadata: { labels } }) => labels?.[onceLabel] !== undefined)
    this.#superseded = new Set([...history.superseded, ...gone.map((object) => idText(childIdOf(object)))])
    return history
  }

  /** A parent that never had children has nothing to report, and a run with an outdated parent must not. */
  get #hasSomethingToReport(): boolean {
    const { declared, staying, leaving } = this.#observation
    const hasChildren = declared.size + staying.length + leaving.length > 0
    return (
      (hasChildren || hasReport(newestParent(this.#run), this.#run.reporter)) &&
      !isOutdated(this.#run, this.#observation)
    )
  }

  /** Applies every child, even after a {@link ChildProblem} of another; then ends the run if one failed. */
  async #applyAll(requests: readonly ChildRequest[]): Promise<readonly KubeObject[]> {
    // A child that is made once says nothing about which other children there should be.
    this.#use({ isDeclaring: requests.every(({ options: { once } }) => once === undefined) })
    const prepared = await Promise.all(requests.map((one) => this.#prepare(one)))
    for (const [index, one] of prepared.entries()) this.#declare(one, requests[index]?.options.key)
    await this.#watches.begin(prepared)
    const [stored, failures]: [KubeObject[], unknown[]] = [[], []]
    for (const [index, one] of prepared.entries()) {
      try {
        stored.push(await this.#applyOne(one, requests[index]?.options ?? {}))
      } catch (error) {
        failures.push(error)
        if (!(error instanceof ChildProblem)) break
      }
    }
    if (failures.length === 0) return stored
    const error = failures.find((one) => !(one instanceof ChildProblem)) ?? failures[0]
    if (!(error instanceof ChildProblem)) throw error
    throw new StopReconcile(error.message, { result: { park: error.message } })
  }

  async #applyOne(
    prepared: PreparedChild,
    { adopt = 'never', recreate = 'never', ready, once }: ChildRequest['options'],
  ): Promise<KubeObject> {
    const checkReadiness = await readinessCheckFor(ready)
    const text = idText(prepared.id)
    try {
      const object = await (once
        ? createOnce(this.#run, prepared)
        : applyChild(this.#run, prepared, { adopt, recreate }))
      this.#declared.set(text, {
        id: prepared.id,
        checkReadiness,
        object,
        readiness: checkReadiness(object),
        appliedFor: once ? 'never' : this.#run.parent.metadata.generation,
      })
      this.#run.known.noteRule(object, checkReadiness)
      this.#report({ at: 'progress' })
      return object
    } catch (error) {
      this.#isOutdated ||= error instanceof StopReconcile
      const readiness = problemOf(error)
      if (readiness) {
        this.#declared.set(text, { id: prepared.id, checkReadiness, readiness })
        this.#waitFor(describeId(prepared.id, this.#run.parent))
      }
      throw error
    }
  }

  async #prepare({
    kind,
    desired,
    options: { prune = true, revisions, once, ready },
  }: ChildRequest): Promise<PreparedChild> {
    const {
      base: { client, signal },
      parent,
    } = this.#run
    const { apiVersion, kind: kindName } = kind
    if (typeof apiVersion !== 'string' || typeof kindName !== 'string')
      throw new RangeError(
        `a child of ${parent.kind} ${parent.metadata.name} needs apiVersion and kind: pass its kind as the first argument, or set both`,
      )
    const type = isKind(kind) ? kind : { apiVersion, kind: kindName }
    const { namespaced } = await client.resourceOf(type, { signal }).catch((error: unknown) => {
      if (isUnknownKind(error)) this.#waitFor(`the CustomResourceDefinition of ${kindName} (${apiVersion})`)
      throw error
    })
    const rule = typeof ready === 'string' ? ready : undefined
    const prepared = prepareChild(parent, desired, {
      kind: type,
      isNamespaced: namespaced,
      prune,
      revisions,
      once,
      ready: rule,
    })
    if (once && prepared.isElsewhere)
      throw new RangeError(
        `${describeId(prepared.id, parent)} cannot be made once: it is outside of the namespace of its parent ${parent.kind} ${parent.metadata.name}; use apply`,
      )
    return prepared
  }

  /** @throws {RangeError} for two different children of the same name, and for a key that is used twice. */
  #declare({ id, digest }: PreparedChild, key: string | undefined): void {
    const text = idText(id)
    const known = this.#digests.get(text)
    if (known !== undefined && known !== digest)
      throw new RangeError(
        `${describeId(id, this.#run.parent)} is applied twice in one run with different content: give one of them another name`,
      )
    if (key !== undefined && (this.#keys.get(key) ?? text) !== text)
      throw new RangeError(`two children have the key ${JSON.stringify(key)}: use a different key for each`)
    this.#digests.set(text, digest)
    if (key !== undefined) this.#keys.set(key, text)
    if (!this.#declared.has(text))
      this.#declared.set(text, { id, checkReadiness: readinessOf, readiness: { state: 'Pending' } })
  }

  #use({ isDeclaring }: { isDeclaring: boolean } = { isDeclaring: true }): void {
    const {
      run: { isCleanup },
      parent,
    } = this.#run
    if (isCleanup)
      throw new RangeError(
        `${parent.kind} ${parent.metadata.name} is being deleted, and its children with it: a cleanup cannot apply children`,
      )
    this.#isUsed ||= isDeclaring
  }

  /** Reports that the run cannot go on. */
  #waitFor(what: string): void {
    this.#waitsFor = what
    this.#report({ at: 'progress', waitsFor: what })
  }

  #report(options: Parameters<typeof reportChildren>[2]): void {
    reportChildren(this.#run, this.#observation, options)
  }

  get #observation(): Parameters<typeof reportChildren>[1] {
    return { ...this.#pruned, declared: this.#declared, staying: this.#staying, superseded: this.#superseded }
  }
}

/** The readiness of a child that could not be written; undefined for a conflict or an abort, which the next run resolves. */
function problemOf(error: unknown): ObservedChild['readiness'] | undefined {
  if (error instanceof ChildProblem) return { state: error.state, reason: error.reason, message: error.message }
  if (isUnknownKind(error)) return { state: 'Failed', reason: 'KindNotInstalled', message: error.message }
  if (!isApiError(error) || (isConflict(error) && findCause(error, 'FieldManagerConflict') === undefined))
    return undefined
  return { state: 'Failed', reason: error.reason, message: error.message }
}

function isKind(value: unknown): value is Kind {
  return (
    typeof value === 'object' &&
    value !== null &&
    'plural' in value &&
    'listKind' in value &&
    'subresources' in value &&
    !('metadata' in value)
  )
}

function isEntry(child: DeclaredChild): child is Extract<DeclaredChild, readonly unknown[]> {
  return Array.isArray(child)
}
