/**
 * One entry of `x-kubernetes-validations`, read without trusting its types, and what errors call it.
 */
import { getOwn, isJsonObject } from '../json.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { SchemaNode } from '../schema/schema.ts'

export interface Rule {
  readonly text: string
  readonly message: string
  readonly messageExpression: string
  readonly reason: string | undefined
  /** The field that errors are about, from the place of the rule. */
  readonly fieldPath: string
  /** Whether `oldSelf` is an optional, so that the rule also holds for what is new; `undefined` when nothing is said. */
  readonly optionalOldSelf: boolean | undefined
}

/** The rules that stand at a place, in order. */
export function readRules(node: SchemaNode): readonly Rule[] {
  return node['x-kubernetes-validations']?.map(readRule) ?? []
}

/** Whether there are rules at a place or below it. */
export function hasRules(node: SchemaNode): boolean {
  if ((node['x-kubernetes-validations']?.length ?? 0) > 0) return true
  if (node.items && hasRules(node.items)) return true
  if (typeof node.additionalProperties === 'object' && hasRules(node.additionalProperties)) return true
  return Object.values(node.properties ?? {}).some(hasRules)
}

/** What errors say of a rule: its message if it has one. */
export function describeRule({ text, message }: Rule): string {
  return (message === '' ? text : message).trim()
}

/** What a broken rule says when no expression says it better. */
export function messageOf(rule: Rule): string {
  return rule.message === '' ? `failed rule: ${describeRule(rule)}` : describeRule(rule)
}

/** A rule as errors about definitions show it: by the names of its fields in Go. */
export function showRule({ text, message, messageExpression, reason, fieldPath, optionalOldSelf }: Rule): JsonObject {
  return {
    Rule: text,
    Message: message,
    MessageExpression: messageExpression,
    Reason: reason ?? null,
    FieldPath: fieldPath,
    OptionalOldSelf: optionalOldSelf ?? null,
  }
}

function readRule(value: JsonValue): Rule {
  const fields = isJsonObject(value) ? value : {}
  const textOf = (key: string): string | undefined => {
    const found = getOwn(fields, key)
    return typeof found === 'string' ? found : undefined
  }
  const optional = getOwn(fields, 'optionalOldSelf')
  return {
    text: textOf('rule') ?? '',
    message: textOf('message') ?? '',
    messageExpression: textOf('messageExpression') ?? '',
    reason: textOf('reason'),
    fieldPath: textOf('fieldPath') ?? '',
    optionalOldSelf: typeof optional === 'boolean' ? optional : undefined,
  }
}
