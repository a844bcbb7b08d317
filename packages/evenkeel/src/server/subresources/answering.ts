/**
 * Who answers actions of the form `call`: functions of this process, by kind and action.
 *
 * Only reading is done there; what changes the world is recorded as intent and done by a reconcile. Whoever answers can
 * come and go while the server runs.
 */
import type { JsonValue, UnstructuredObject } from '#api'
import type { User } from '../call.ts'

interface AskedAction {
  readonly object: UnstructuredObject
  readonly input: JsonValue | undefined
  readonly user: User
  readonly signal: AbortSignal
}

export type ActionAnswerer = (asked: AskedAction) => Promise<JsonValue> | JsonValue

export class ActionAnswerers {
  readonly #byAction = new Map<string, ActionAnswerer>()

  /** The last one who wants to answer does; the function takes it away again. */
  add(
    { group, kind }: { readonly group: string; readonly kind: string },
    action: string,
    answer: ActionAnswerer,
  ): () => void {
    const id = idOf(group, kind, action)
    this.#byAction.set(id, answer)
    return () => {
      if (this.#byAction.get(id) === answer) this.#byAction.delete(id)
    }
  }

  find({ group, kind }: { readonly group: string; readonly kind: string }, action: string): ActionAnswerer | undefined {
    return this.#byAction.get(idOf(group, kind, action))
  }
}

function idOf(group: string, kind: string, action: string): string {
  return `${group}/${kind}/${action}`
}
