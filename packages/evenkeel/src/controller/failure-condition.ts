/**
 * The condition of an object whose reconcile fails: `Ready` is False with the reason `ReconcileError`.
 *
 * Authors rarely report a failure that they did not expect, and people look at the object first. So a run that fails and
 * says nothing about `Ready` gets this condition, with the message and the line of the program. The next run that
 * succeeds and says nothing either removes it.
 *
 * Only kinds of our own schema that have conditions get it: the status of a built-in kind belongs to its own controller.
 */
import { findCondition, getOwn, isJsonObject, type JsonObject, type Kind, type KubeObject, readConditions } from '#api'
import { placeOf } from '#base'
import type { StatusWriter } from './status.ts'

const type = 'Ready'
const reason = 'ReconcileError'
/** A condition's message may have 32,768 characters, more than fits on a screen. */
const messageMax = 1_000

interface FailingObject {
  readonly object: KubeObject
  readonly status: StatusWriter<never>
}

export class FailureCondition {
  readonly #hasConditions: boolean

  constructor({ schema, subresources }: Pick<Kind, 'schema' | 'subresources'>) {
    this.#hasConditions = subresources.status && schema !== undefined && hasConditions(schema)
  }

  /** Sets the condition, unless the run has set it. */
  report(error: unknown, { status }: FailingObject): void {
    if (!this.#hasConditions || status.hasCondition(type)) return
    const message = error instanceof Error ? error.message : String(error)
    const at = placeOf(error)
    status.aside(() => {
      status.condition(type, false, {
        reason,
        message: `${message.slice(0, messageMax)}${at === undefined ? '' : ` (${at})`}`,
      })
    })
  }

  /** Removes the condition of an earlier failure, unless the run has set another. */
  clear({ object, status }: FailingObject): void {
    if (!this.#hasConditions || status.hasCondition(type)) return
    const { conditions } = (object as { readonly status?: { readonly conditions?: JsonObject[] } }).status ?? {}
    if (findCondition(readConditions(conditions), type)?.reason !== reason) return
    status.aside(() => {
      status.removeCondition(type)
    })
  }
}

function hasConditions(schema: JsonObject): boolean {
  const status = propertyOf(schema, 'status')
  return status !== undefined && propertyOf(status, 'conditions') !== undefined
}

function propertyOf({ properties }: JsonObject, name: string): JsonObject | undefined {
  const found = isJsonObject(properties) ? getOwn(properties, name) : undefined
  return isJsonObject(found) ? found : undefined
}
