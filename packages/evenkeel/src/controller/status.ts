/**
 * The status that a reconcile sets: collected while it runs, written once when it ends, and only if it differs.
 *
 * The observed generation goes with it, into `observedGeneration` and into every condition. `lastTransitionTime` of a
 * condition changes only when its status does, so setting the same status again writes nothing.
 *
 * The write is a patch of what differs from the newest state we know, and succeeds only if that is still the state on the
 * server: lists such as conditions are replaced as a whole, and those of another writer must not be lost.
 */
import {
  createMergePatch,
  deepEqual,
  getOwn,
  isJsonObject,
  isNotFound,
  setCondition,
  setOwn,
  type Condition,
  type ConditionStatus,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
  type Kind,
  type KubeObject,
  asJson,
  readConditions,
} from '#api'
import type { Clock, Logger } from '#base'
import type { ObjectCache } from '#cache'
import { peek, type ReconcileClient } from './reconcile-client.ts'

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

/**
 * The `status` of a reconcile's context: what the run sets, written once when the run ends, and only if it differs.
 *
 * @example
 * function report(status: StatusWriter<{ url?: string }>, url: string | undefined): void {
 *   status.set({ url })
 *   status.condition('Ready', url !== undefined, { reason: url === undefined ? 'NoAddress' : 'Serving' })
 * }
 */
export class StatusWriter<S = JsonObject> {
  readonly #object: KubeObject
  readonly #clock: Clock
  /**
   * Whether the kind has a status.
   *
   * @internal
   */
  readonly hasStatus: boolean
  readonly #fields: JsonObjectDraft = {}
  readonly #conditions = new Map<string, CollectedCondition>()
  readonly #removed = new Set<string>()
  #isTouched = false
  /** The program set something: it has observed this generation. */
  #isReported = false

  /** @internal */
  constructor({ object, clock, hasStatus }: StatusWriterOptions) {
    this.#object = object
    this.#clock = clock
    this.hasStatus = hasStatus
  }

  /**
   * Whether anything was set. A reconcile that sets nothing leaves the status alone.
   *
   * @example if (!status.isTouched) status.condition('Ready', true)
   */
  get isTouched(): boolean {
    return this.#isTouched
  }

  /**
   * Sets fields; others stay as they are, `undefined` removes one.
   *
   * @example status.set({ readyReplicas: 3, lastError: undefined })
   */
  set(fields: { readonly [Name in keyof S]?: S[Name] | undefined }): void {
    this.#touch()
    for (const [name, value] of Object.entries(fields)) setOwn(this.#fields, name, value)
  }

  /**
   * Sets a condition; `undefined`: unknown. `observedGeneration` and `lastTransitionTime` follow.
   *
   * @example status.condition('Ready', false, { reason: 'NoImage', message: 'set spec.image' })
   */
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

  /**
   * Whether this run has set the condition.
   *
   * @example if (!status.hasCondition('Degraded')) status.condition('Ready', true)
   */
  hasCondition(type: string): boolean {
    return this.#conditions.has(type)
  }

  /**
   * Changes that the runtime makes for a program that set nothing. They do not begin an `observedGeneration`: a program
   * that reports no status would never update it.
   *
   * @internal
   */
  aside(change: () => void): void {
    const isReported = this.#isReported
    change()
    this.#isReported = isReported
  }

  /**
   * Removes a condition, unless the run sets it.
   *
   * @example if (site.spec.replicas > 0) status.removeCondition('Suspended')
   */
  removeCondition(type: string): void {
    this.#touch()
    this.#removed.add(type)
  }

  /**
   * The new status, from the current one; fields of `without` are left alone.
   *
   * @internal
   */
  next(current: JsonObject, { without }: { without: ReadonlySet<string> }): JsonObject {
    const next: JsonObjectDraft = {}
    const { generation } = this.#object.metadata
    for (const [name, value] of Object.entries(current)) setOwn(next, name, value)
    for (const [name, value] of Object.entries(this.#fields)) {
      if (value === undefined) delete next[name]
      else if (!without.has(name)) setOwn(next, name, value)
    }
    if (this.#conditions.size + this.#removed.size > 0 && !without.has('conditions')) {
      const conditions = this.#nextConditions(next['conditions'])
      if (conditions.length > 0) next['conditions'] = conditions
      else delete next['conditions']
    }
    if (
      generation !== undefined &&
      (this.#isReported || current['observedGeneration'] !== undefined) &&
      getOwn(this.#fields, 'observedGeneration') === undefined &&
      !without.has('observedGeneration')
    )
      next['observedGeneration'] = generation
    return next
  }

  #nextConditions(current: JsonValue | undefined): JsonValue[] {
    const { generation } = this.#object.metadata
    let conditions: readonly Condition[] = readConditions(current).filter(
      ({ type }) => !this.#removed.has(type) || this.#conditions.has(type),
    )
    for (const condition of this.#conditions.values()) {
      conditions = setCondition(
        conditions,
        { ...condition, ...(generation !== undefined && { observedGeneration: generation }) },
        { now: this.#clock.now() },
      )
    }
    return conditions.map(asJson)
  }

  #touch(): void {
    if (!this.hasStatus)
      throw new RangeError(
        `${this.#object.kind} has no status: add a status schema to its kind, or do not set its status`,
      )
    this.#isTouched = true
    this.#isReported = true
  }
}

interface WriteStatusOptions {
  readonly object: KubeObject
  readonly client: ReconcileClient
  readonly cache: ObjectCache
  readonly dropped: DroppedFields
  readonly signal: AbortSignal
}

/** For a touched writer. A deleted object has no status to write. @throws {ApiError} `Conflict`, when another writer was faster. */
export async function writeStatus(
  writer: StatusWriter<never>,
  { object, client, cache, dropped, signal }: WriteStatusOptions,
): Promise<void> {
  const { name = '', namespace } = object.metadata
  const newest = peek(cache, object, { name, ...(namespace !== undefined && { namespace }) })
  if (newest === undefined || newest.metadata.uid !== object.metadata.uid) return
  const current = statusOf(newest)
  const next = writer.next(current, { without: dropped.names })
  if (deepEqual(current, next)) return
  const isEmpty = Object.keys(next).length === 0
  const patch = isEmpty ? null : (createMergePatch(current as JsonValue, next as JsonValue) as JsonObject)
  try {
    const stored = await client
      .subresource('status')
      .patch(newest, { metadata: { resourceVersion: newest.metadata.resourceVersion }, status: patch }, { signal })
    if (patch) dropped.learn(patch, statusOf(stored))
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** Status fields that the server prunes because the schema of the kind does not have them. */
export class DroppedFields {
  readonly #names = new Set<string>()
  readonly #log: Logger
  readonly #kind: string

  constructor({ kind, schema }: Pick<Kind, 'kind' | 'schema'>, { log }: { log: Logger }) {
    this.#kind = kind
    this.#log = log
    // We set this one without being asked: no warning when the schema does not have it.
    if (schema && !hasStatusField(schema, 'observedGeneration')) this.#names.add('observedGeneration')
  }

  get names(): ReadonlySet<string> {
    return this.#names
  }

  /** Learns which fields are pruned. Without this, every run would write a pruned field again. */
  learn(sent: JsonObject, stored: JsonObject): void {
    for (const [name, value] of Object.entries(sent)) {
      const isEmpty =
        value === null ||
        (Array.isArray(value) && value.length === 0) ||
        (isJsonObject(value) && Object.keys(value).length === 0)
      if (isEmpty || this.#names.has(name) || getOwn(stored, name) !== undefined) continue
      this.#names.add(name)
      if (name !== 'observedGeneration')
        this.#log.warn('the server pruned a status field: add it to the schema of the kind', {
          kind: this.#kind,
          field: `status.${name}`,
        })
    }
  }
}

function statusOf(object: KubeObject): JsonObject {
  const status: unknown = (object as { readonly status?: unknown }).status
  return isJsonObject(status) ? status : {}
}

function hasStatusField(schema: JsonObject, name: string): boolean {
  const { properties } = schema
  const status = isJsonObject(properties) ? getOwn(properties, 'status') : undefined
  if (!isJsonObject(status)) return true
  const isOpen = status['x-kubernetes-preserve-unknown-fields'] === true || status['additionalProperties'] === true
  return isOpen || !isJsonObject(status['properties']) || getOwn(status['properties'], name) !== undefined
}
