/**
 * An action of the form `call`: answered at once by the process that has the controller, and only by reading.
 *
 * On a server of ours in the same process the answer is served at the object's own path. On other servers the form does
 * not exist: there, an action that must be answered is an `operation` whose result is read.
 */
import type { ActionSheet, JsonValue, KubeObject } from '#api'
import type { Verb } from '#controller'

export interface CallOptions {
  /** Reads and tells; what it changes nobody would know of. */
  readonly answer: (asked: AskedCall) => Promise<JsonValue> | JsonValue
}

export interface AskedCall {
  readonly object: KubeObject
  readonly input: JsonValue | undefined
  /** Who asks. */
  readonly user: { readonly name: string, readonly groups: readonly string[] }
  readonly signal: AbortSignal
}

export interface CallAction extends Verb {
  readonly sheet: ActionSheet
  readonly answer: CallOptions['answer']
}

export function callVerb(sheet: ActionSheet, { answer }: CallOptions): CallAction {
  return { name: `action ${sheet.name}`, sheet, answer, extend: () => ({ context: {} }) }
}

export function isCallAction(verb: Verb): verb is CallAction {
  return verb.sheet?.form === 'call' && 'answer' in verb
}
