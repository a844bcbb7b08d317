/**
 * Server-side apply as data: who writes what, one after the other, and what comes of it.
 */
import assert from 'node:assert/strict'
import { causesOf } from '../../causes.ts'
import { defineCustom } from '../../custom.ts'
import type { Custom } from '../../custom.ts'
import type { Answer } from '../../answer.ts'
import { expectStatus, ok } from '../../expect.ts'
import { ownersOf } from '../../owners.ts'
import type { Fields } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

export interface Sequence {
  readonly id: string
  readonly rule: string
  /** The schema of `spec`. */
  readonly spec: Fields
  readonly steps: readonly ApplyStep[]
}

/** One write, and what is claimed after it. */
interface ApplyStep {
  /** Who writes. */
  readonly by: string
  /** The `spec` that is applied. */
  readonly apply?: unknown
  /** Applies although others own what changes. */
  readonly force?: true
  /** The `spec` that replaces the whole object's. */
  readonly update?: unknown
  /** A merge patch of `spec`. */
  readonly patch?: unknown
  /** Why the apply is a conflict, each with the field and the other manager. */
  readonly conflicts?: readonly string[]
  /** What `spec` is then. */
  readonly is?: unknown
  /** Who owns what then. */
  readonly owners?: Readonly<Record<string, readonly string[]>>
}

export function sequenceCase({ id, rule, spec, steps }: Sequence): ServerCase {
  return {
    id: `server/apply/${id}`,
    rule,
    async run(place) {
      const widgets = await defineCustom(place, { spec })
      for (const step of steps) await playStep(step, { widgets, place })
    },
  }
}

async function playStep(step: ApplyStep, { widgets, place }: { widgets: Custom; place: Place }): Promise<void> {
  const answer = await write(step, widgets)
  if (step.conflicts !== undefined) {
    const count = step.conflicts.length
    expectStatus(answer, {
      code: 409,
      reason: 'Conflict',
      message: new RegExp(`^Apply failed with ${count} conflicts?: `),
    })
    assert.deepEqual(causesOf(answer, place), [...step.conflicts].sort())
    return
  }
  const object = ok(answer)
  if ('is' in step) assert.deepEqual(object.spec, step.is)
  if (step.owners !== undefined) assert.deepEqual(ownersOf(object), step.owners)
}

/** The object is always the same one; whoever does not apply creates it when it is not there. */
async function write(step: ApplyStep, widgets: Custom): Promise<Answer> {
  const query = { fieldManager: step.by }
  if ('apply' in step)
    return widgets.apply('one', { spec: step.apply }, { manager: step.by, ...(step.force && { force: true }) })
  if ('patch' in step) return widgets.patch('one', { spec: step.patch }, { query })
  const { status } = await widgets.get('one')
  return status === 404
    ? widgets.create('one', { spec: step.update }, { query })
    : widgets.put('one', { spec: step.update }, { query })
}
