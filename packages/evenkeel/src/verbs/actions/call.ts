/**
 * An action of the form `call`: answered by the process that has the controller, and only by reading.
 *
 * On a server of ours in the same process the answer is served at once, at the object's own path. Everywhere else the
 * question becomes an `Operation`: the controller answers it before its next reconcile of the object, as the operation's
 * result, and whoever asked reads it there. Answers are kept for a minute.
 */
import type { ActionDefinition, JsonValue, KubeObject } from '#api'
import type { Verb } from '#controller'
import { operationVerb } from './operation.ts'

export interface CallOptions {
  /** Reads and tells; what it changes nobody would know of. */
  readonly answer: (asked: CallRequest) => Promise<JsonValue> | JsonValue
}

export interface CallRequest {
  readonly object: KubeObject
  readonly input: JsonValue | undefined
  /** Who asks, where the server can say it: `name` is empty otherwise. */
  readonly user: { readonly name: string; readonly groups: readonly string[] }
  readonly signal: AbortSignal
}

export interface CallAction extends Verb {
  readonly action: ActionDefinition
  readonly answer: CallOptions['answer']
}

/** How long an answer is kept for whoever asked. */
const answerTtlSeconds = 60

export function callVerb(sheet: ActionDefinition, { answer }: CallOptions): CallAction {
  const { handle, extend, ...rest } = operationVerb<JsonValue, JsonValue>({
    ...sheet,
    policy: 'Queue',
    ttlSeconds: answerTtlSeconds,
  })
  return {
    ...rest,
    action: sheet,
    answer,
    extend(base, run) {
      const { object } = run
      if (!object || run.isCleanup) return { context: {} }
      return {
        ...extend(base, run),
        start: async () => {
          await handle(base, ({ input, operation: { spec } }) =>
            answer({ object, input, user: { name: spec.by ?? '', groups: [] }, signal: base.signal }),
          )
          return undefined
        },
      }
    },
  }
}

export function isCallAction(verb: Verb): verb is CallAction {
  return verb.action?.form === 'call' && 'answer' in verb
}
