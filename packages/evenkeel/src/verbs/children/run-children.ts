/**
 * The children of one run: those declared so far, and their readiness.
 *
 * Invariants: a run that does not use `children` changes no child; a run that ends early prunes nothing; every row of
 * the status was observed, by this run or by the run that wrote it.
 */
import { findCause, isApiError, isConflict, type ChildReport, type Kind, type KubeObject, type TypeMeta } from '#api'
import { isUnknownKind } from '#client'
import { StopReconcile, type Reconciled } from '#controller'
import { readinessCheckFor, readinessOf, type ReadinessCheck } from '../readiness.ts'
import { applyChild, ChildProblem, ifCached, newestParent, type ChildRun } from './apply.ts'
import type { ChildOptions, Children, DeclaredChild } from './children.ts'
import {
  checkSame,
  childIdOf,
  describeId,
  idText,
  prepareChild,
  type ChildId,
  type DesiredChild,
  type PreparedChild,
} from './desired-child.ts'
import { addToInventory } from './inventory.ts'
import { declaredKinds, isApplied, ownedChildren, pruneChildren, type PruneResult } from './prune.ts'
import {
  allRows,
  childrenConditionType,
  cutRows,
  earlierRows,
  hasRows,
  reportsOn,
  rowOf,
  summarize,
  type ObservedChild,
} from './status.ts'

/** With more children than this, only the end of a run writes the report. */
const intermediateReportMax = 50

/** One call of `apply`, normalized. */
interface ChildRequest {
  readonly kind: Kind | TypeMeta
  readonly desired: DesiredChild
  readonly options: ChildOptions<never> & { readonly revisions?: string }
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
  readonly #declared = new Map<string, DeclaredChildState>()
  readonly #digests = new Map<string, string>()
  readonly #keys = new Map<string, string>()
  readonly #keep = new Map<string, number>()
  readonly #elsewhere: ChildId[] = []
  #pruned: PruneResult = { leaving: [], leavingElsewhere: [], staying: [] }
  #isUsed = false

  constructor(run: ChildRun, options: RunChildrenOptions) {
    this.#run = run
    this.#options = options
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
    return this.#applyAll(
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
  }

  waitFor<T extends KubeObject>(child: T, predicate?: (child: T) => boolean): T {
    const id = childIdOf(child)
    const checkReadiness = this.#declared.get(idText(id))?.checkReadiness ?? readinessOf
    const isMet = predicate ? predicate(child) : checkReadiness(child).state === 'Ready'
    if (isMet) return child
    const what = `${describeId(id, this.#run.parent)} ${predicate ? 'to meet the condition of its parent' : 'to be ready'}`
    this.#report({ waitsFor: what })
    throw new StopReconcile(`waiting for ${what}`, { result: { park: what } })
  }

  /** Ends a run that returned: prunes, reports, and updates the watches. */
  async finish(): Promise<Reconciled> {
    if (!this.#isUsed) return undefined
    this.#watchUndeclared()
    await this.prune()
    this.#report({ isComplete: true })
    await this.#run.watches.setKinds(this.#run.base.key, this.#neededKinds())
    return undefined
  }

  /** Applies every child, even after a {@link ChildProblem} of another; then ends the run if one failed. */
  async #applyAll(requests: readonly ChildRequest[]): Promise<readonly KubeObject[]> {
    this.#use()
    const prepared = await Promise.all(requests.map((one) => this.#prepare(one)))
    for (const [index, one] of prepared.entries()) this.#declare(one, requests[index]?.options.key)
    await this.#watch(prepared)
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
    { adopt = 'never', recreate = 'never', ready }: ChildRequest['options'],
  ): Promise<KubeObject> {
    const checkReadiness = await readinessCheckFor(ready)
    const text = idText(prepared.id)
    try {
      const object = await applyChild(this.#run, prepared, { adopt, recreate })
      this.#declared.set(text, {
        id: prepared.id,
        checkReadiness,
        object,
        readiness: checkReadiness(object),
        appliedFor: this.#run.parent.metadata.generation,
      })
      this.#report({})
      return object
    } catch (error) {
      const readiness = problemOf(error)
      if (readiness) {
        this.#declared.set(text, { id: prepared.id, checkReadiness, readiness })
        this.#report({ waitsFor: describeId(prepared.id, this.#run.parent) })
      }
      throw error
    }
  }

  async #prepare({ kind, desired, options: { prune = true, revisions } }: ChildRequest): Promise<PreparedChild> {
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
      if (isUnknownKind(error))
        this.#report({ waitsFor: `the CustomResourceDefinition of ${kindName} (${apiVersion})` })
      throw error
    })
    return prepareChild(parent, desired, { kind: type, isNamespaced: namespaced, prune, revisions })
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

  /** Starts the watches before the children are created, so that no event is missed, and lists children elsewhere in the inventory. */
  async #watch(prepared: readonly PreparedChild[]): Promise<void> {
    const {
      run,
      watches,
      base: { key },
    } = this.#run
    for (const { id, isElsewhere } of prepared) {
      if (isElsewhere && !this.#mayBeElsewhere(id))
        throw new RangeError(
          `${describeId(id, this.#run.parent)} is in a namespace that an owner reference to ${run.kind.kind} cannot cross into: declare it with owns: [{ kind: ${id.kind}, elsewhere: true }]`,
        )
      if (isElsewhere) this.#elsewhere.push(id)
      if (isElsewhere || !this.#isDeclared(id)) watches.need(run, id, key)
    }
    if (this.#elsewhere.length > 0) await addToInventory(this.#run, this.#elsewhere)
  }

  /** Kinds that need a watch although they are not declared in `owns`, because a child of them exists. */
  #neededKinds(): readonly TypeMeta[] {
    const { leaving, staying, leavingElsewhere } = this.#pruned
    const unsynced = [...earlierRows(this.#run.parent, this.#run.reporter).values()]
      .filter((row) => !this.#isKnown(row))
      .map(({ apiVersion = '', kind }) => ({ apiVersion, kind }))
    const undeclared = [...this.#declared.values()].map(({ id }) => id)
    return [
      ...this.#elsewhere,
      ...leavingElsewhere,
      ...[...undeclared, ...leaving, ...staying, ...unsynced].filter((kind) => !this.#isDeclared(kind)),
    ]
  }

  #isDeclared({ apiVersion, kind }: TypeMeta): boolean {
    return declaredKinds(this.#run).some((declared) => declared.apiVersion === apiVersion && declared.kind === kind)
  }

  #mayBeElsewhere({ apiVersion, kind }: ChildId): boolean {
    return (this.#run.run.declaration.owns ?? []).some(
      (owned) =>
        !('group' in owned) &&
        owned.elsewhere === true &&
        owned.kind.apiVersion === apiVersion &&
        owned.kind.kind === kind,
    )
  }

  /** Watches the kinds of earlier children. Without a watch, children of a kind that is no longer applied would never be pruned. */
  #watchUndeclared(): void {
    const {
      run,
      watches,
      parent,
      base: { key },
    } = this.#run
    for (const { apiVersion = '', kind } of earlierRows(parent, this.#run.reporter).values())
      if (apiVersion !== '' && !this.#isDeclared({ apiVersion, kind })) watches.need(run, { apiVersion, kind }, key)
  }

  #use(): void {
    const {
      run: { isCleanup },
      parent,
    } = this.#run
    if (isCleanup)
      throw new RangeError(
        `${parent.kind} ${parent.metadata.name} is being deleted, and its children with it: a cleanup cannot apply children`,
      )
    this.#isUsed = true
  }

  /** Writes rows and condition. `isComplete`: the run has ended, so an object that it did not declare is no child. */
  #report({ isComplete = false, waitsFor }: { isComplete?: boolean; waitsFor?: string }): void {
    const {
      run: { status, kind },
      base: { clock },
      reporter,
    } = this.#run
    // Intermediate reports show where a failed run stopped. With many children they cost too much.
    if (
      !status ||
      !reportsOn(kind) ||
      (!isComplete && waitsFor === undefined && this.#declared.size > intermediateReportMax)
    )
      return
    const parent = newestParent(this.#run)
    const earlier = earlierRows(parent, reporter)
    const rows = new Map<string, ChildReport>(isComplete ? [] : earlier)
    for (const child of this.#observed(earlier, { isComplete }))
      rows.set(idText(child.id), rowOf(child, { earlier: earlier.get(idText(child.id)), nowMs: clock.now(), reporter }))
    const all = [...rows.values()]
    const others = allRows(parent).filter(({ controller }) => controller !== reporter)
    const { status: isReady, reason, message } = summarize(all, { parent, waitsFor })
    if (hasRows(kind)) status.set(cutRows([...all, ...others]) as never)
    // Only a complete run knows that all children are ready.
    if (isComplete || isReady === 'False')
      status.condition(childrenConditionType(reporter), isReady, { reason, message })
  }

  #observed(
    earlier: ReadonlyMap<string, ChildReport>,
    { isComplete }: { isComplete: boolean },
  ): readonly ObservedChild[] {
    const { leaving, leavingElsewhere, staying } = this.#pruned
    const unsynced = isComplete ? [...earlier.values()].filter((row) => !this.#isKnown(row)) : []
    return [
      ...[...this.#declared.values()].filter(({ readiness }) => isComplete || readiness.state !== 'Pending'),
      ...[...leaving, ...staying].map((object) => ({ id: childIdOf(object), object, readiness: readinessOf(object) })),
      ...leavingElsewhere.map((id) => ({ id, readiness: { state: 'Terminating' as const, reason: 'Deleting' } })),
      ...unsynced.map(({ apiVersion = '', ...row }) => ({ id: { ...row, apiVersion }, readiness: row })),
    ]
  }

  /** Whether the cache would show the child if it existed. */
  #isKnown({ apiVersion = '', kind, group, namespace, name }: ChildReport): boolean {
    if (this.#declared.has(idText({ group, kind, namespace, name }))) return true
    const {
      run: { cache },
      watches,
    } = this.#run
    const cachedKinds = [...declaredKinds(this.#run), ...watches.kinds].filter(
      (cachedKind) => cachedKind.apiVersion === apiVersion && cachedKind.kind === kind,
    )
    return (
      cachedKinds.length === 0 ||
      cachedKinds.some(
        (cachedKind) =>
          ifCached(() => cache.find(cachedKind, { name, ...(namespace !== '' && { namespace }) })) !== undefined,
      )
    )
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
