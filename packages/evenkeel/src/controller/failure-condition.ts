/**
 * The condition of an object whose reconcile fails: `Ready` is False with the reason `ReconcileError`.
 *
 * Authors rarely report a failure that they did not expect, and people look at the object first. So a run that fails and
 * says nothing about `Ready` gets this condition, with the message and the line of the program. The next run that
 * succeeds and says nothing either removes it.
 *
 * A terminal error is written once for a generation and a line of the program: its write causes one more run, and a message
 * that is different in each run would cause another one each time. Other failures wait for their back-off.
 *
 * Only kinds of our own schema that have conditions get it: the status of a built-in kind belongs to its own controller.
 */
import {
  findCondition,
  getOwn,
  isJsonObject,
  readConditions,
  type Condition,
  type JsonObject,
  type Kind,
  type KubeObject,
} from '#api'
import { placeOf } from '#base'
import { isTerminalError } from './errors.ts'
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
  report(error: unknown, { object, status }: FailingObject): void {
    if (!this.#hasConditions || status.hasCondition(type)) return
    const message = error instanceof Error ? error.message : String(error)
    const at = placeOf(error)
    const suffix = at === undefined ? '' : ` (${at})`
    if (isTerminalError(error) && isReported(object, suffix)) return
    status.aside(() => {
      status.condition(type, false, { reason, message: `${message.slice(0, messageMax)}${suffix}` })
    })
  }

  /** Removes the condition of an earlier failure, unless the run has set another. */
  clear({ object, status }: FailingObject): void {
    if (!this.#hasConditions || status.hasCondition(type)) return
    if (failureOf(object) === undefined) return
    status.aside(() => {
      status.removeCondition(type)
    })
  }
}

/** The condition of an earlier failure. */
function failureOf(object: KubeObject): Condition | undefined {
  const { conditions } = (object as { readonly status?: { readonly conditions?: JsonObject[] } }).status ?? {}
  const condition = findCondition(readConditions(conditions), type)
  return condition?.reason === reason ? condition : undefined
}

function isReported(object: KubeObject, suffix: string): boolean {
  const failure = failureOf(object)
  return failure?.observedGeneration === object.metadata.generation && failure?.message?.endsWith(suffix) === true
}

function hasConditions(schema: JsonObject): boolean {
  const status = propertyOf(schema, 'status')
  return status !== undefined && propertyOf(status, 'conditions') !== undefined
}

function propertyOf({ properties }: JsonObject, name: string): JsonObject | undefined {
  const found = isJsonObject(properties) ? getOwn(properties, name) : undefined
  return isJsonObject(found) ? found : undefined
}
