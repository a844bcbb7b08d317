/**
 * CEL rules as data: a schema, and the expected result of creates and replaces.
 */
import assert from 'node:assert/strict'
import { causesOf } from '../../causes.ts'
import { defineCustom } from '../../custom.ts'
import { expectStatus, ok } from '../../expect.ts'
import type { Fields } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'

export interface RuleCase {
  readonly id: string
  readonly rule: string
  /** The schema of `spec`. */
  readonly spec: Fields
  readonly steps: readonly RuleStep[]
}

/** One write: a new object, or a replace of the last accepted one. */
interface RuleStep {
  /** The `spec` of a new object. */
  readonly create?: unknown
  /** The `spec` of a replace. */
  readonly update?: unknown
  /** The expected causes; without any the write is accepted. */
  readonly causes?: readonly string[]
}

export function ruleCase({ id, rule, spec, steps }: RuleCase): ServerCase {
  return {
    id: `server/rules/${id}`,
    rule,
    async run(place) {
      const widgets = await defineCustom(place, { spec })
      let last = ''
      for (const [index, { create, update, causes }] of steps.entries()) {
        const name = update === undefined ? `w${index}` : last
        const answer =
          update === undefined
            ? await widgets.create(name, { spec: create })
            : await widgets.put(name, { spec: update })
        if (causes === undefined) {
          ok(answer)
          last = name
        } else {
          expectStatus(answer, { code: 422, reason: 'Invalid', details: { kind: 'Widget', group: widgets.group } })
          assert.deepEqual(causesOf(answer, place), [...causes].sort())
        }
      }
    },
  }
}

/** An object schema with rules. */
export function ruled(properties: Fields, ...rules: readonly (Fields | string)[]): Fields {
  return { type: 'object', properties, ...checked(...rules) }
}

/** Rules to add to a type; a string is a rule without further fields. */
export function checked(...rules: readonly (Fields | string)[]): Fields {
  return { 'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)) }
}
