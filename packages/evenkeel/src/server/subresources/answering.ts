/**
 * Who answers actions of the form `call`: functions of this process, by kind and action.
 *
 * Only reading is done there; what changes the world is recorded as intent and done by a reconcile. Whoever answers can
 * come and go while the server runs.
 */
import type { JsonValue, UnstructuredObject } from '#api'
import type { User } from '../call.ts'

interface ActionRequest {
  readonly object: UnstructuredObject
  readonly input: JsonValue | undefined
  readonly user: User
  readonly signal: AbortSignal
}

export type ActionHandler = (asked: ActionRequest) => Promise<JsonValue> | JsonValue

export class ActionHandlers {
  readonly #byAction = new Map<string, ActionHandler>()

  /** The last one who wants to answer does; the function takes it away again. */
  add(
    { group, kind }: { readonly group: string; readonly kind: string },
    action: string,
    answer: ActionHandler,
  ): () => void {
    const id = actionId(group, kind, action)
    this.#byAction.set(id, answer)
    return () => {
      if (this.#byAction.get(id) === answer) this.#byAction.delete(id)
    }
  }

  find({ group, kind }: { readonly group: string; readonly kind: string }, action: string): ActionHandler | undefined {
    return this.#byAction.get(actionId(group, kind, action))
  }
}

function actionId(group: string, kind: string, action: string): string {
  return `${group}/${kind}/${action}`
}
