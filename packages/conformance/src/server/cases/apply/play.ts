/**
 * Server-side apply as data: a sequence of writes by different managers, and the expected result.
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

/** One write and the expectations after it. */
interface ApplyStep {
  /** The field manager. */
  readonly by: string
  /** The `spec` that is applied. */
  readonly apply?: unknown
  /** Applies although other managers own the changed fields. */
  readonly force?: true
  /** The `spec` of a replace. */
  readonly update?: unknown
  /** A merge patch of `spec`. */
  readonly patch?: unknown
  /** Expected conflicts, each with the field and the other manager. */
  readonly conflicts?: readonly string[]
  /** The expected `spec`. */
  readonly is?: unknown
  /** The expected owners. */
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

/** Every step writes the same object. A step other than an apply creates it if it is missing. */
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
