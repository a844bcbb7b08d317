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
import {
  checkActionDefinition,
  formatTime,
  readActionRequest,
  type ActionDefinition,
  type ActionReport,
  type ActionRequest,
  type JsonValue,
  type KubeObject,
} from '#api'
import { PerRun, type BaseContext, type PluginRun, type StatusWriter, type Verb } from '#controller'
import { operationVerb, type OperationAction, type OperationOptions } from './operation.ts'

type ActionOptions = Omit<ActionDefinition, 'name' | 'form'>

/** What the reconcile sees of a state is the spec, so there is nothing to ask the verb. */
export type StateAction = Verb

/**
 * Declares something that people ask of an object beside changing it: restart, back up, report usage.
 *
 * `state` patches the spec, `token` records a request that the next reconcile handles, `operation` tracks progress in
 * an object of its own, `call` answers at once.
 *
 * @example
 * const restart = action('restart', { form: 'token', about: 'Ends the process and starts it again.' })
 * const apps = defineController({
 *   for: App,
 *   verbs: [restart],
 *   async reconcile(app, context) {
 *     await restart.handle(context, ({ by }) => processes.restart(app.metadata.uid, by))
 *   },
 * })
 */
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
/** @throws {RangeError} for an action definition that is not valid. */
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

/*
 * An action of the form `call`: answered by the process that has the controller, and only by reading.
 *
 * On a server of ours in the same process the answer is served at once, at the object's own path. Everywhere else the
 * question becomes an `Operation`: the controller answers it before its next reconcile of the object, as the operation's
 * result, and whoever asked reads it there. Answers are kept for a minute.
 */

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

function callVerb(sheet: ActionDefinition, { answer }: CallOptions): CallAction {
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

/*
 * An action of the form `token`: a stamp on the object, compared with the one that was handled last.
 *
 * The stamp outlives whoever was down; the same stamp is never handled twice once the status says so. Between the effect
 * and that status lies one write: a crash there repeats the effect, so it must bear being repeated.
 */

export interface TokenRequest<Input> extends Omit<ActionRequest, 'input'> {
  readonly input: Input | undefined
}

export interface TokenAction<Input> extends Verb {
  readonly action: ActionDefinition
  /** What is asked for and was not handled yet. */
  requested(context: Pick<BaseContext, 'signal'>): TokenRequest<Input> | undefined
  /** Does what is asked for, if anything is, and records it with the status of this run; says whether it did. */
  handle(
    context: Pick<BaseContext, 'signal'>,
    perform: (request: TokenRequest<Input>) => Promise<void> | void,
  ): Promise<boolean>
}

interface TokenRun {
  readonly base: BaseContext
  readonly run: PluginRun
}

function tokenVerb<Input>(sheet: ActionDefinition): TokenAction<Input> {
  const runs = new PerRun<TokenRun>(`the action ${sheet.name}`)
  const requested = (context: Pick<BaseContext, 'signal'>): TokenRequest<Input> | undefined => {
    const { object, isCleanup } = runs.get(context).run
    if (!object || isCleanup) return undefined
    const request = readActionRequest(object, sheet.name)
    return request && request.token !== reportsOf(object).find(({ name }) => name === sheet.name)?.lastHandled
      ? (request as TokenRequest<Input>)
      : undefined
  }
  return {
    name: `action ${sheet.name}`,
    action: sheet,
    requested,
    extend(base, run) {
      runs.set(base, { base, run })
      return { context: {} }
    },
    async handle(context, perform) {
      const request = requested(context)
      if (!request) return false
      await perform(request)
      const {
        base,
        run: { object, status },
      } = runs.get(context)
      if (object && status)
        record(status, object, {
          name: sheet.name,
          lastHandled: request.token,
          lastHandledTime: formatTime(base.clock.now()),
          state: 'Done',
        })
      return true
    },
  }
}

/** What the status says of the object's actions. */
function reportsOf(object: KubeObject): readonly ActionReport[] {
  const { status } = object as { readonly status?: { readonly actions?: readonly ActionReport[] } }
  return Array.isArray(status?.actions) ? status.actions : []
}

/** Several actions may be handled in one run: each adds to what the others said. */
const said = new WeakMap<StatusWriter, readonly ActionReport[]>()

function record(status: StatusWriter, object: KubeObject, report: ActionReport): void {
  const before = said.get(status) ?? reportsOf(object)
  const actions = [...before.filter(({ name }) => name !== report.name), report].sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )
  said.set(status, actions)
  status.set({ actions } as never)
}
