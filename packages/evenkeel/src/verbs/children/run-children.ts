/**
 * The children of one run: what was declared in it so far, and how that is.
 *
 * Invariants: a run that says nothing about children changes nothing about them; one that ends early takes nothing away;
 * every row of the status is about something that was seen, in this run or in the one that wrote it.
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

/** More children than that are reported at the end of a run only. */
const underWayMax = 50

/** One call of `apply`, whatever its form. */
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
  #left: PruneResult = { leaving: [], leavingElsewhere: [], staying: [] }
  #isTouched = false

  constructor(run: ChildRun, options: RunChildrenOptions) {
    this.#run = run
    this.#options = options
  }

  async apply(first: unknown, second: unknown = {}, third: unknown = {}): Promise<never> {
    const asked = isKind(first)
      ? { kind: first, desired: second, options: third }
      : { kind: first, desired: first, options: second }
    const [stored] = await this.#applyAll([asked as ChildRequest])
    return stored as never
  }

  async declare(list: readonly DeclaredChild[] | (() => readonly DeclaredChild[])): Promise<readonly KubeObject[]> {
    const given = typeof list === 'function' ? list() : list
    if (typeof list === 'function' && this.#options.checkDeterminism)
      checkSame(given, list(), `the function of children.declare for ${this.#run.parent.kind}`)
    return this.#applyAll(
      given.map((one) =>
        isEntry(one)
          ? { kind: one[0], desired: one[1] as DesiredChild, options: one[2] ?? {} }
          : { kind: one, desired: one, options: {} },
      ),
    )
  }

  /** A revision of a series, of which so many old ones stay. */
  async applyRevision(
    asked: ChildRequest & { readonly options: { readonly revisions: string } },
    keep: number,
  ): Promise<KubeObject> {
    this.#keep.set(asked.options.revisions, keep)
    const [stored] = await this.#applyAll([asked])
    return stored as KubeObject
  }

  none(): void {
    this.#touch()
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
    this.#touch()
    const objects = [...this.#declared.values()].flatMap(({ object }) => object ?? [])
    this.#left = await pruneChildren(this.#run, { ids: new Set(this.#declared.keys()), objects, keep: this.#keep })
  }

  waitFor<T extends KubeObject>(child: T, predicate?: (child: T) => boolean): T {
    const id = childIdOf(child)
    const judge = this.#declared.get(idText(id))?.checkReadiness ?? readinessOf
    const isSo = predicate ? predicate(child) : judge(child).state === 'Ready'
    if (isSo) return child
    const what = `${describeId(id, this.#run.parent)} ${predicate ? 'to be as its parent needs it' : 'to be ready'}`
    this.#report({ waitsFor: what })
    throw new StopReconcile(`waits for ${what}`, { result: { park: what } })
  }

  /** At the end of a run that returned. */
  async finish(): Promise<Reconciled> {
    if (!this.#isTouched) return undefined
    this.#watchUndeclared()
    await this.prune()
    this.#report({ isWhole: true })
    await this.#run.watches.setKinds(this.#run.base.key, this.#neededKinds())
    return undefined
  }

  /** Each is tried, whatever becomes of the others; then the run ends if one of them went wrong. */
  async #applyAll(asked: readonly ChildRequest[]): Promise<readonly KubeObject[]> {
    this.#touch()
    const wanted = await Promise.all(asked.map((one) => this.#wantedOf(one)))
    for (const [index, one] of wanted.entries()) this.#declare(one, asked[index]?.options.key)
    await this.#watch(wanted)
    const [stored, failures]: [KubeObject[], unknown[]] = [[], []]
    for (const [index, one] of wanted.entries()) {
      try {
        stored.push(await this.#applyOne(one, asked[index]?.options ?? {}))
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
    wanted: PreparedChild,
    { adopt = 'never', recreate = 'never', ready }: ChildRequest['options'],
  ): Promise<KubeObject> {
    const judge = await readinessCheckFor(ready)
    const text = idText(wanted.id)
    try {
      const object = await applyChild(this.#run, wanted, { adopt, recreate })
      this.#declared.set(text, {
        id: wanted.id,
        checkReadiness: judge,
        object,
        readiness: judge(object),
        appliedFor: this.#run.parent.metadata.generation,
      })
      this.#report({})
      return object
    } catch (error) {
      const readiness = problemOf(error)
      if (readiness) {
        this.#declared.set(text, { id: wanted.id, checkReadiness: judge, readiness })
        this.#report({ waitsFor: describeId(wanted.id, this.#run.parent) })
      }
      throw error
    }
  }

  async #wantedOf({ kind, desired, options: { prune = true, revisions } }: ChildRequest): Promise<PreparedChild> {
    const {
      base: { client, signal },
      parent,
    } = this.#run
    const { apiVersion, kind: word } = kind
    if (typeof apiVersion !== 'string' || typeof word !== 'string')
      throw new RangeError(
        `a child of ${parent.kind} ${parent.metadata.name} needs apiVersion and kind: give its kind first, or say both`,
      )
    const type = isKind(kind) ? kind : { apiVersion, kind: word }
    const { namespaced } = await client.resourceOf(type, { signal }).catch((error: unknown) => {
      if (isUnknownKind(error)) this.#report({ waitsFor: `the kind ${word} (${apiVersion}) to be installed` })
      throw error
    })
    return prepareChild(parent, desired, { kind: type, isNamespaced: namespaced, prune, revisions })
  }

  /** @throws {RangeError} for two children in one place. */
  #declare({ id, digest }: PreparedChild, key: string | undefined): void {
    const text = idText(id)
    const known = this.#digests.get(text)
    if (known !== undefined && known !== digest)
      throw new RangeError(
        `${describeId(id, this.#run.parent)} is applied twice in one run, and not the same: give one of them another name`,
      )
    if (key !== undefined && (this.#keys.get(key) ?? text) !== text)
      throw new RangeError(`two children have the key ${JSON.stringify(key)}: give each its own`)
    this.#digests.set(text, digest)
    if (key !== undefined) this.#keys.set(key, text)
    if (!this.#declared.has(text))
      this.#declared.set(text, { id, checkReadiness: readinessOf, readiness: { state: 'Pending' } })
  }

  /** Whoever is watched before it is made is not missed. Those elsewhere are listed before they are made, too. */
  async #watch(wanted: readonly PreparedChild[]): Promise<void> {
    const {
      run,
      watches,
      base: { key },
    } = this.#run
    for (const { id, isOutOfReach: isElsewhere } of wanted) {
      if (isElsewhere && !this.#mayBeElsewhere(id))
        throw new RangeError(
          `${describeId(id, this.#run.parent)} is where no owner reference of ${run.kind.kind} reaches: declare it with owns: [{ kind: ${id.kind}, elsewhere: true }]`,
        )
      if (isElsewhere) this.#elsewhere.push(id)
      if (isElsewhere || !this.#isDeclared(id)) watches.need(run, id, key)
    }
    if (this.#elsewhere.length > 0) await addToInventory(this.#run, this.#elsewhere)
  }

  /** What must be watched beside what is declared, as long as there is a child of it. */
  #neededKinds(): readonly TypeMeta[] {
    const { leaving, staying, leavingElsewhere } = this.#left
    const late = [...earlierRows(this.#run.parent, this.#run.reporter).values()]
      .filter((row) => !this.#isKnown(row))
      .map(({ apiVersion = '', kind }) => ({ apiVersion, kind }))
    const undeclared = [...this.#declared.values()].map(({ id }) => id)
    return [
      ...this.#elsewhere,
      ...leavingElsewhere,
      ...[...undeclared, ...leaving, ...staying, ...late].filter((kind) => !this.#isDeclared(kind)),
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

  /** Kinds of which an earlier run had children, and this one has none: without a watch they would stay for ever. */
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

  #touch(): void {
    const {
      run: { isCleanup },
      parent,
    } = this.#run
    if (isCleanup)
      throw new RangeError(
        `${parent.kind} ${parent.metadata.name} is being deleted: its children go with it, and none is made`,
      )
    this.#isTouched = true
  }

  /** Says how the children are. `isWhole`: the run has come to its end, so what it did not declare is no child. */
  #report({ isWhole = false, waitsFor }: { isWhole?: boolean; waitsFor?: string }): void {
    const {
      run: { status, kind },
      base: { clock },
      reporter,
    } = this.#run
    // Rows of a run under way are for those who look when it fails; with many children only its end is worth the work.
    if (!status || !reportsOn(kind) || (!isWhole && waitsFor === undefined && this.#declared.size > underWayMax)) return
    const parent = newestParent(this.#run)
    const earlier = earlierRows(parent, reporter)
    const rows = new Map<string, ChildReport>(isWhole ? [] : earlier)
    for (const seen of this.#seen(earlier, { isWhole }))
      rows.set(idText(seen.id), rowOf(seen, { earlier: earlier.get(idText(seen.id)), nowMs: clock.now(), reporter }))
    const all = [...rows.values()]
    const others = allRows(parent).filter(({ controller }) => controller !== reporter)
    const { status: holds, reason, message } = summarize(all, { parent, waitsFor })
    if (hasRows(kind)) status.set(cutRows([...all, ...others]) as never)
    // Before its end a run cannot know that all of them are ready.
    if (isWhole || holds === 'False') status.condition(childrenConditionType(reporter), holds, { reason, message })
  }

  #seen(earlier: ReadonlyMap<string, ChildReport>, { isWhole }: { isWhole: boolean }): readonly ObservedChild[] {
    const { leaving, leavingElsewhere, staying } = this.#left
    const unsynced = isWhole ? [...earlier.values()].filter((row) => !this.#isKnown(row)) : []
    return [
      ...[...this.#declared.values()].filter(({ readiness }) => isWhole || readiness.state !== 'Pending'),
      ...[...leaving, ...staying].map((object) => ({ id: childIdOf(object), object, readiness: readinessOf(object) })),
      ...leavingElsewhere.map((id) => ({ id, readiness: { state: 'Terminating' as const, reason: 'Deleting' } })),
      ...unsynced.map(({ apiVersion = '', ...row }) => ({ id: { ...row, apiVersion }, readiness: row })),
    ]
  }

  /** Whether memory would show it if it were there. */
  #isKnown({ apiVersion = '', kind, group, namespace, name }: ChildReport): boolean {
    if (this.#declared.has(idText({ group, kind, namespace, name }))) return true
    const {
      run: { cache },
      watches,
    } = this.#run
    const forms = [...declaredKinds(this.#run), ...watches.kinds].filter(
      (form) => form.apiVersion === apiVersion && form.kind === kind,
    )
    return (
      forms.length === 0 ||
      forms.some(
        (form) => ifCached(() => cache.find(form, { name, ...(namespace !== '' && { namespace }) })) !== undefined,
      )
    )
  }
}

/** How a child is that could not be written; undefined for what the next run settles: somebody was faster, or we are to end. */
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
