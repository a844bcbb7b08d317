/**
 * A request for an action of the form `token`: stamped on the object, handled once, whoever was down in between.
 *
 * The stamp is an annotation of its own for each action. A new request replaces one that nobody handled yet: asking
 * twice to restart means one restart. What was handled last stands in the status, so the same stamp is never handled again.
 */
import { isJsonObject } from '../json.ts'
import type { JsonValue } from '../json.ts'
import type { KubeObject } from '../object.ts'

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
