/**
 * `action`: something that people ask of an object beside changing it: stop, restart, back up, tell me your usage.
 *
 * One declaration gives the path (`POST .../apps/web/restart`), a right of its own, an entry for CLI and dashboard, and
 * a place in `reconcile` where it is done. Handlers of requests record intent; the reconcile does the work.
 *
 * Invariants: a request is handled at most once after its effect was recorded, and at least once: what `perform` does
 * must bear being done again after a crash in between; nothing is done to an object that is being deleted.
 *
 * @example
 * const restart = action('restart', { form: 'token', about: 'Ends the process and starts it again.' })
 * controllers: [{ for: App, verbs: [restart], async reconcile(app, context) {
 *   await restart.handle(context, async () => { await processes.restart(app.metadata.uid) })
 * } }]
 */
import { checkActionDefinition } from '#api'
import type { ActionDefinition, JsonValue } from '#api'
import type { Verb } from '#controller'
import { callVerb } from './call.ts'
import type { CallAction, CallOptions } from './call.ts'
import { operationVerb } from './operation.ts'
import type { OperationAction, OperationOptions } from './operation.ts'
import { tokenVerb } from './token.ts'
import type { TokenAction } from './token.ts'

type ActionOptions = Omit<ActionDefinition, 'name' | 'form'>

/** What the reconcile sees of a state is the spec, so there is nothing to ask the verb. */
export type StateAction = Verb

export function action(name: string, options: ActionOptions & { readonly form: 'state' }): StateAction
export function action<Input = JsonValue>(
  name: string,
  options: ActionOptions & { readonly form: 'token' },
): TokenAction<Input>
export function action<Input = JsonValue, Output = JsonValue>(
  name: string,
  options: ActionOptions & OperationOptions & { readonly form: 'operation' },
): OperationAction<Input, Output>
export function action(name: string, options: ActionOptions & CallOptions & { readonly form: 'call' }): CallAction
/** @throws {RangeError} for a sheet that cannot be meant. */
export function action(
  name: string,
  options: ActionOptions & Partial<CallOptions> & { readonly form: ActionDefinition['form'] },
): Verb {
  const { answer, ...rest } = options
  const sheet = checkActionDefinition({ name, ...rest })
  switch (sheet.form) {
    case 'token':
      return tokenVerb(sheet)
    case 'operation':
      return operationVerb(sheet)
    case 'call': {
      if (answer === undefined) throw new RangeError(`the action ${name} is answered at once: give answer`)
      return callVerb(sheet, { answer })
    }
    default:
      return { name: `action ${name}`, action: sheet, extend: () => ({ context: {} }) }
  }
}
