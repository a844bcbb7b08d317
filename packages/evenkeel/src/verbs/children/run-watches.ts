/**
 * The watches that one run needs for the children of its parent.
 *
 * A watch starts before the first child of its kind is created, so no event is missed; children elsewhere are listed in
 * the inventory at the same time. When the run has ended, a watch stays while a child of its kind exists.
 */
import type { TypeMeta } from '#api'
import type { ChildRun } from './apply.ts'
import { describeId, type ChildId, type PreparedChild } from './desired-child.ts'
import { addToInventory, inventoryOf } from './inventory.ts'
import { declaredKinds } from './prune.ts'
import { isKnown, type RunObservation } from './run-report.ts'
import { earlierRows } from './status.ts'

export class RunWatches {
  readonly #run: ChildRun
  readonly #elsewhere: ChildId[] = []

  constructor(run: ChildRun) {
    this.#run = run
  }

  /** Before children are created. @throws {RangeError} for a child elsewhere that is not declared as such. */
  async begin(prepared: readonly PreparedChild[]): Promise<void> {
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

  /** For the children of earlier runs. Without a watch, a change of them would start no run, and they would never be pruned. */
  resume({ isUsed }: { isUsed: boolean }): void {
    const {
      run,
      watches,
      parent,
      base: { key },
    } = this.#run
    for (const { apiVersion = '', kind } of earlierRows(parent, this.#run.reporter).values())
      if (apiVersion !== '' && !this.#isDeclared({ apiVersion, kind })) watches.need(run, { apiVersion, kind }, key)
    // A run that uses children prunes the inventory; any other run only observes it.
    if (isUsed) return
    for (const id of inventoryOf(parent, run.controller)) {
      watches.need(run, id, key)
      this.#elsewhere.push(id)
    }
  }

  /** Stops the watches that no child of the parent needs any more. */
  async end(observation: RunObservation): Promise<void> {
    await this.#run.watches.setKinds(this.#run.base.key, this.#neededKinds(observation))
  }

  /** Kinds that need a watch although they are not declared in `owns`, because a child of them exists. */
  #neededKinds({ declared, leaving, leavingElsewhere, staying }: RunObservation): readonly TypeMeta[] {
    const unsynced = [...earlierRows(this.#run.parent, this.#run.reporter).values()]
      .filter((row) => !isKnown(this.#run, declared, row))
      .map(({ apiVersion = '', kind }) => ({ apiVersion, kind }))
    const present = [...declared.values(), ...staying].map(({ id }) => id)
    return [
      ...this.#elsewhere,
      ...leavingElsewhere,
      ...[...present, ...leaving, ...unsynced].filter((kind) => !this.#isDeclared(kind)),
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
}
