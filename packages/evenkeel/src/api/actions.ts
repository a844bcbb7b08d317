/**
 * Actions on the objects of a kind: their definitions, the requests for them, and the Operation kind.
 *
 * The definitions of a kind are in an annotation of its CRD, so every client that can read the CRD knows which actions
 * exist, how to request them, and when. There are four forms: `state` writes fields of the spec; `token` writes a
 * request that a controller handles once; `operation` creates an object that exists as long as the work and its result;
 * `call` is answered at once.
 *
 * A `token` request is an annotation, one for each action. A new request replaces one that is not handled yet: two
 * requests to restart mean one restart. The status contains the last handled request, so a controller that was down
 * handles each request once.
 *
 * An operation is an object of its own, with the request, the progress and the result.
 */
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from '@evenkeel/cel/primitives'
import type { Condition } from './conditions.ts'
import { defineKind } from './kind/define-kind.ts'
import type { Kind } from './kind/kind.ts'
import type { KubeObject } from './object.ts'

type ActionForm = 'state' | 'token' | 'operation' | 'call'

/** The policy for a request while another operation of the object is running. */
export type OperationPolicy = 'Forbid' | 'Replace' | 'Queue'

export interface ActionDefinition {
  /** A word in lower case: the last segment of the path. */
  readonly name: string
  readonly form: ActionForm
  /** One sentence. */
  readonly about?: string
  /** The schema of the input. @default no input is allowed */
  readonly input?: JsonObject
  /** The schema of the output. */
  readonly output?: JsonObject
  /** For `state`: the patch that is merged into the object, below `spec`. */
  readonly patch?: JsonObject
  /** A CEL expression about `object`: whether the action is available now. @default always */
  readonly enabledWhen?: string
  /** A question that a user must confirm first. */
  readonly confirm?: string
  /** For `operation`. @default 'Forbid' */
  readonly policy?: OperationPolicy
  /** For `operation`: how long a finished operation is kept. @default 86_400 (a day) */
  readonly ttlSeconds?: number
  /** For `operation`: how many finished operations of an object are kept. @default 10 */
  readonly historyMax?: number
}

/** The annotation of a CRD with the action definitions of its kind, as a JSON list. */
export const actionsAnnotation = 'evenkeel.dev/actions'

const forms: ReadonlySet<string> = new Set<ActionForm>(['state', 'token', 'operation', 'call'])
const actionsMax = 50

/** Names with another meaning below an object. */
const taken: ReadonlySet<string> = new Set([
  'status',
  'scale',
  'finalize',
  'proxy',
  'log',
  'exec',
  'attach',
  'portforward',
])

/** @throws {RangeError} for an invalid action definition; the message contains the correction. */
export function checkActionDefinition(definition: ActionDefinition): ActionDefinition {
  const { name, form, patch, ttlSeconds = 1, historyMax = 0 } = definition
  if (!/^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(name))
    throw new RangeError(`the name of an action is a word in lower case, got ${JSON.stringify(name)}`)
  if (taken.has(name)) throw new RangeError(`an action cannot be called ${name}: that is a subresource of its own`)
  if (!forms.has(form))
    throw new RangeError(
      `the form of the action ${name} is one of ${[...forms].join(', ')}, got ${JSON.stringify(form)}`,
    )
  if (form === 'state' && !(isJsonObject(patch) && Object.keys(patch).every((field) => field === 'spec')))
    throw new RangeError(`the action ${name} writes a state: give patch: { spec: { ... } }`)
  if (form !== 'state' && patch !== undefined)
    throw new RangeError(`the action ${name} is no state, so it has no patch`)
  if (!(ttlSeconds >= 0) || !(Number.isInteger(historyMax) && historyMax >= 0))
    throw new RangeError(`ttlSeconds and historyMax of the action ${name} are 0 or more`)
  return definition
}

/** The action definitions of an annotation. Invalid ones are ignored, as any client may write the annotation. */
export function readActionDefinitions(text: string | undefined): readonly ActionDefinition[] {
  if (text === undefined) return []
  const seen = new Set<string>()
  return parsed(text)
    .slice(0, actionsMax)
    .flatMap((each) => {
      if (!isJsonObject(each)) return []
      try {
        const definition = checkActionDefinition(each as unknown as ActionDefinition)
        if (seen.has(definition.name)) return []
        seen.add(definition.name)
        return [definition]
      } catch {
        return []
      }
    })
}

function parsed(text: string): readonly JsonValue[] {
  try {
    const value = parseJson(text) as JsonValue
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

// Requests for actions of the form `token`.

export interface ActionRequest {
  /** Different for each request. */
  readonly token: string
  /** The user, as far as the server knows. */
  readonly by?: string
  /** The time of the request, as RFC 3339. */
  readonly time?: string
  readonly input?: JsonValue
}

/** The annotation of an action. */
export function requestAnnotation(action: string): string {
  return `action.evenkeel.dev/${action}`
}

/** The request in an object; undefined without a valid one. A plain string is a token. */
export function readActionRequest(
  { metadata: { annotations } }: Pick<KubeObject, 'metadata'>,
  action: string,
): ActionRequest | undefined {
  const text = annotations?.[requestAnnotation(action)]
  if (text === undefined || text === '') return undefined
  try {
    const value = parseJson(text) as JsonValue
    if (isJsonObject(value) && typeof value['token'] === 'string' && value['token'] !== '')
      return value as unknown as ActionRequest
  } catch {
    // A user with an editor may write any text; it is still a request.
  }
  return { token: text.slice(0, 200) }
}

export function formatActionRequest(request: ActionRequest): string {
  return stringifyJson(request)
}

// Operations.

export type OperationPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Cancelled'

interface OperationTarget {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
}

export interface OperationObject extends KubeObject {
  readonly spec: {
    readonly action: string
    readonly target: OperationTarget
    readonly input?: JsonValue
    /** The user who requested the operation. */
    readonly by?: string
    /** The only mutable field: requests cancellation. */
    readonly cancel?: boolean
    readonly ttlSeconds?: number
  }
  readonly status?: {
    readonly phase?: OperationPhase
    readonly startTime?: string
    readonly completionTime?: string
    readonly message?: string
    readonly result?: JsonValue
    /** How many attempts have ended; only with a retry policy. */
    readonly attempts?: number
    /** Why the last failed attempt failed. */
    readonly lastError?: string
    /** When the next attempt begins. */
    readonly nextAttemptTime?: string
    readonly conditions?: readonly Condition[]
    readonly observedGeneration?: number
  }
}

/** A label of operations with the uid of their object: names may be too long for a label. */
export const operationTargetLabel = 'evenkeel.dev/target-uid'

const text = { type: 'string' }
const anything = { 'x-kubernetes-preserve-unknown-fields': true }

/** In the namespace of its object; operations on cluster-scoped objects are in `default`. */
export const Operation = defineKind({
  group: 'evenkeel.dev',
  version: 'v1alpha1',
  kind: 'Operation',
  categories: ['evenkeel'],
  printerColumns: [
    { name: 'Action', type: 'string', jsonPath: '.spec.action' },
    { name: 'Target', type: 'string', jsonPath: '.spec.target.name' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: {
    type: 'object',
    required: ['action', 'target'],
    properties: {
      action: { ...text, minLength: 1, maxLength: 63 },
      target: {
        type: 'object',
        required: ['apiVersion', 'kind', 'name', 'uid'],
        properties: { apiVersion: text, kind: text, name: text, uid: text },
      },
      input: anything,
      by: text,
      cancel: { type: 'boolean' },
      ttlSeconds: { type: 'integer', minimum: 0 },
    },
    'x-kubernetes-validations': [
      {
        rule: 'self.action == oldSelf.action && self.target == oldSelf.target',
        message: 'an operation cannot be changed, only cancelled',
      },
    ],
  },
  status: {
    type: 'object',
    properties: {
      phase: text,
      startTime: { ...text, format: 'date-time' },
      completionTime: { ...text, format: 'date-time' },
      message: { ...text, maxLength: 4096 },
      result: anything,
      attempts: { type: 'integer', minimum: 0 },
      lastError: { ...text, maxLength: 4096 },
      nextAttemptTime: { ...text, format: 'date-time' },
    },
  },
} as const) as unknown as Kind<OperationObject>

export function isOperationOver({ status }: Pick<OperationObject, 'status'>): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed' || status?.phase === 'Cancelled'
}
