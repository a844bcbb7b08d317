/**
 * What can be done to objects of a kind beside changing them: a sheet for each action, which server, CLI and people read.
 *
 * The sheets of a kind stand in an annotation of its definition, so everybody who can read the definition knows what can
 * be asked for, how, and when. Four forms: `state` writes fields of the spec; `token` stamps a request that a controller
 * handles once; `operation` makes an object that lives as long as the work and its result; `call` is answered at once.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import type { Condition } from './conditions.ts'
import { defineKind } from './kind/define-kind.ts'
import type { Kind } from './kind/kind.ts'
import type { KubeObject } from './object.ts'

type ActionForm = 'state' | 'token' | 'operation' | 'call'

/** What happens when an operation is asked for while another one goes on. */
export type OperationPolicy = 'Forbid' | 'Replace' | 'Queue'

export interface ActionDefinition {
  /** A word in lower case: the last part of a path. */
  readonly name: string
  readonly form: ActionForm
  /** One sentence. */
  readonly about?: string
  /** The schema of what is given along. @default nothing may be given */
  readonly input?: JsonObject
  /** The schema of what comes back. */
  readonly output?: JsonObject
  /** For `state`: what is merged into the object, below `spec`. */
  readonly patch?: JsonObject
  /** An expression in CEL about `object`: whether it makes sense now. @default always */
  readonly enabledWhen?: string
  /** A question that a person should answer first. */
  readonly confirm?: string
  /** For `operation`. @default 'Forbid' */
  readonly policy?: OperationPolicy
  /** For `operation`: how long a finished one is kept. @default 86_400 (a day) */
  readonly ttlSeconds?: number
  /** For `operation`: how many finished ones of an object are kept. @default 10 */
  readonly historyMax?: number
}

/** Of definitions: the sheets of their kind, as a list in JSON. */
export const actionsAnnotation = 'evenkeel.dev/actions'

const forms: ReadonlySet<string> = new Set<ActionForm>(['state', 'token', 'operation', 'call'])
const actionsMax = 50

/** Names that mean something else below an object. */
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

/** @throws {RangeError} for a sheet that cannot be meant; the message says what to do. */
export function checkActionDefinition(sheet: ActionDefinition): ActionDefinition {
  const { name, form, patch, ttlSeconds = 1, historyMax = 0 } = sheet
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
  return sheet
}

/** The sheets of an annotation; what cannot be read is left out, as anybody may write there. */
export function readActionDefinitions(text: string | undefined): readonly ActionDefinition[] {
  if (text === undefined) return []
  const seen = new Set<string>()
  return parsed(text)
    .slice(0, actionsMax)
    .flatMap((each) => {
      if (!isJsonObject(each)) return []
      try {
        const sheet = checkActionDefinition(each as unknown as ActionDefinition)
        if (seen.has(sheet.name)) return []
        seen.add(sheet.name)
        return [sheet]
      } catch {
        return []
      }
    })
}

function parsed(text: string): readonly JsonValue[] {
  try {
    const value = JSON.parse(text) as JsonValue
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

/*
 * A request for an action of the form `token`: stamped on the object, handled once, whoever was down in between.
 *
 * The stamp is an annotation of its own for each action. A new request replaces one that nobody handled yet: asking
 * twice to restart means one restart. What was handled last stands in the status, so the same stamp is never handled again.
 */

export interface ActionRequest {
  /** Another one for each request. */
  readonly token: string
  /** Who asked, as far as the server knows. */
  readonly by?: string
  /** When, as RFC 3339. */
  readonly time?: string
  readonly input?: JsonValue
}

/** The annotation of an action. */
export function requestAnnotation(action: string): string {
  return `action.evenkeel.dev/${action}`
}

/** What is asked for; undefined when nothing is, or nothing that can be read. A bare text is a token. */
export function readActionRequest(
  { metadata: { annotations } }: Pick<KubeObject, 'metadata'>,
  action: string,
): ActionRequest | undefined {
  const text = annotations?.[requestAnnotation(action)]
  if (text === undefined || text === '') return undefined
  try {
    const value = JSON.parse(text) as JsonValue
    if (isJsonObject(value) && typeof value['token'] === 'string' && value['token'] !== '')
      return value as unknown as ActionRequest
  } catch {
    // A person with an editor writes anything; it still asks for something.
  }
  return { token: text.slice(0, 200) }
}

export function formatActionRequest(request: ActionRequest): string {
  return JSON.stringify(request)
}

/*
 * An action that takes its time: an object of its own, with what was asked, how it goes and what came of it.
 */

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
    /** Who asked. */
    readonly by?: string
    /** The one field that may change: asks it to stop. */
    readonly cancel?: boolean
    readonly ttlSeconds?: number
  }
  readonly status?: {
    readonly phase?: OperationPhase
    readonly startTime?: string
    readonly completionTime?: string
    readonly message?: string
    readonly result?: JsonValue
    readonly conditions?: readonly Condition[]
    readonly observedGeneration?: number
  }
}

/** A label of operations: the uid of the object that they are about, which fits where names do not. */
export const operationTargetLabel = 'evenkeel.dev/target-uid'

const text = { type: 'string' }
const anything = { 'x-kubernetes-preserve-unknown-fields': true }

/** In the namespace of the object it is about; operations about objects without a namespace are in `default`. */
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
    },
  },
} as const) as unknown as Kind<OperationObject>

export function isOperationOver({ status }: Pick<OperationObject, 'status'>): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed' || status?.phase === 'Cancelled'
}
