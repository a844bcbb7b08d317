/**
 * What can be done to objects of a kind beside changing them: a sheet for each action, which server, CLI and people read.
 *
 * The sheets of a kind stand in an annotation of its definition, so everybody who can read the definition knows what can
 * be asked for, how, and when. Four forms: `state` writes fields of the spec; `token` stamps a request that a controller
 * handles once; `operation` makes an object that lives as long as the work and its result; `call` is answered at once.
 */
import { isJsonObject } from '../json.ts'
import type { JsonObject, JsonValue } from '../json.ts'

export type ActionForm = 'state' | 'token' | 'operation' | 'call'

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
