/**
 * What a reconcile says about its object: collected while it runs, written once when it ends, and only if it differs.
 *
 * The generation that was looked at goes with it, into `observedGeneration` and into every condition. The moment of a
 * condition's transition moves only when its status does, so saying the same again writes nothing.
 */
import type { Clock } from '#base'
import { getOwn, isJsonObject, setCondition, setOwn } from '#api'
import type { Condition, ConditionStatus, JsonObject, JsonObjectDraft, JsonValue, KubeObject } from '#api'

export interface ConditionFacts {
  /** One word in CamelCase. @default the type, or `Not` and the type */
  readonly reason?: string
  /** A sentence for people. @default '' */
  readonly message?: string
}

interface CollectedCondition {
  readonly type: string
  readonly status: ConditionStatus
  readonly reason: string
  readonly message: string
}

interface StatusWriterOptions {
  readonly object: KubeObject
  readonly clock: Clock
  /** Whether the kind has a status of its own. */
  readonly hasStatus: boolean
}

export class StatusWriter<S = JsonObject> {
  readonly #object: KubeObject
  readonly #clock: Clock
  readonly #hasStatus: boolean
  readonly #fields: JsonObjectDraft = {}
  readonly #conditions = new Map<string, CollectedCondition>()
  #isTouched = false

  constructor({ object, clock, hasStatus }: StatusWriterOptions) {
    this.#object = object
    this.#clock = clock
    this.#hasStatus = hasStatus
  }

  /** Whether anything was said. A reconcile that says nothing about the status leaves it alone. */
  get isTouched(): boolean {
    return this.#isTouched
  }

  /** Sets fields; others stay as they are, `undefined` takes one away. */
  set(fields: { readonly [Name in keyof S]?: S[Name] | undefined }): void {
    this.#touch()
    for (const [name, value] of Object.entries(fields)) setOwn(this.#fields, name, value)
  }

  /** Says whether something holds; `undefined`: nobody knows. */
  condition(
    type: string,
    holds: boolean | ConditionStatus | undefined,
    { reason, message = '' }: ConditionFacts = {},
  ): void {
    this.#touch()
    const status = typeof holds === 'string' ? holds : holds === undefined ? 'Unknown' : holds ? 'True' : 'False'
    const word = status === 'True' ? type : status === 'False' ? `Not${type}` : 'Unknown'
    this.#conditions.set(type, { type, status, reason: reason ?? word.replace(/\W/g, '_'), message })
  }

  /** The status that follows from what it is now; fields of `without` are left alone. */
  next(current: JsonObject, { without }: { without: ReadonlySet<string> }): JsonObject {
    const next: JsonObjectDraft = {}
    const { generation } = this.#object.metadata
    for (const [name, value] of Object.entries(current)) setOwn(next, name, value)
    for (const [name, value] of Object.entries(this.#fields)) {
      if (value === undefined) delete next[name]
      else if (!without.has(name)) setOwn(next, name, value)
    }
    if (this.#conditions.size > 0 && !without.has('conditions'))
      next['conditions'] = this.#nextConditions(next['conditions'])
    if (
      generation !== undefined &&
      getOwn(this.#fields, 'observedGeneration') === undefined &&
      !without.has('observedGeneration')
    )
      next['observedGeneration'] = generation
    return next
  }

  #nextConditions(current: JsonValue | undefined): JsonValue {
    const { generation } = this.#object.metadata
    let conditions = (Array.isArray(current) ? current.filter(isJsonObject) : []) as unknown as readonly Condition[]
    for (const condition of this.#conditions.values()) {
      conditions = setCondition(
        conditions,
        { ...condition, ...(generation !== undefined && { observedGeneration: generation }) },
        { now: this.#clock.now() },
      )
    }
    return conditions as unknown as JsonValue
  }

  #touch(): void {
    if (!this.#hasStatus)
      throw new RangeError(`${this.#object.kind} has no status: give its kind a status schema, or say nothing about it`)
    this.#isTouched = true
  }
}
