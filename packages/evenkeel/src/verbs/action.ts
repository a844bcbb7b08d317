/**
 * `action`: a request about an object that is no change of its spec: stop, restart, back up, report usage.
 *
 * One declaration gives the subresource path (`POST .../apps/web/restart`), an RBAC resource of its own, an entry in CLI
 * and dashboard, and a hook in `reconcile` that does the work. Request handlers only record the request.
 *
 *   state      the request changes the spec; the reconcile reads the spec
 *   token      the request writes a token on the object; the status names the token that was handled last
 *   operation  the request creates an Operation with its own status and result, see `operation.ts`
 *   call       the request is answered by a read-only function of the controller
 *
 * Invariants: a request is handled at least once, and not again after the status records it; `perform` must be
 * idempotent, because a crash between the effect and that status write repeats it; an object that is being deleted
 * handles no actions.
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
import { hasStatusField } from './depends-on/status.ts'
import { operationVerb, type OperationAction, type OperationOptions } from './operation.ts'
import { checkRetry } from './retry.ts'

type ActionOptions = Omit<ActionDefinition, 'name' | 'form'>

/** The reconcile reads the state from the spec, so this verb has no methods. */
type StateAction = Verb

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
  options: ActionOptions &
    Partial<CallOptions> &
    Pick<OperationOptions, 'retry'> & { readonly form: ActionDefinition['form'] },
): Verb {
  const { answer, retry, ...rest } = options
  const definition = checkActionDefinition({ name, ...rest })
  if (retry && definition.form !== 'operation')
    throw new RangeError(`action ${name}: retry needs the form 'operation', got ${JSON.stringify(definition.form)}`)
  if (retry) checkRetry(`action ${name}`, retry)
  switch (definition.form) {
    case 'token':
      return tokenVerb(definition)
    case 'operation':
      return operationVerb(definition, { ...(retry && { retry }) })
    case 'call': {
      if (answer === undefined) throw new RangeError(`action ${name}: the form 'call' needs the option answer`)
      return callVerb(definition, { answer })
    }
    default:
      return { name: `action ${name}`, action: definition, extend: () => ({ context: {} }) }
  }
}

/*
 * The form `call`.
 *
 * A plane in the same process serves the answer directly at the subresource path. Elsewhere the request becomes an
 * `Operation`: the controller answers it before the next reconcile of the object and stores the answer as its result.
 */

interface CallOptions {
  /** Computes the answer. It must not change anything: no record of the request is kept. */
  readonly answer: (request: CallRequest) => Promise<JsonValue> | JsonValue
}

export interface CallRequest {
  readonly object: KubeObject
  readonly input: JsonValue | undefined
  /** The user, if the server knows it; otherwise `name` is empty. */
  readonly user: { readonly name: string; readonly groups: readonly string[] }
  readonly signal: AbortSignal
}

interface CallAction extends Verb {
  readonly action: ActionDefinition
  readonly answer: CallOptions['answer']
}

/** How long an answer stays readable as the result of its Operation. */
const answerTtlSeconds = 60

function callVerb(definition: ActionDefinition, { answer }: CallOptions): CallAction {
  const { handle, extend, ...rest } = operationVerb<JsonValue, JsonValue>({
    ...definition,
    policy: 'Queue',
    ttlSeconds: answerTtlSeconds,
  })
  return {
    ...rest,
    action: definition,
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
 * The form `token`: an annotation with a unique token, compared with the token that was handled last.
 *
 * The token survives a controller that is down. Once the status names it, it is never handled again.
 */

interface TokenRequest<Input> extends Omit<ActionRequest, 'input'> {
  readonly input: Input | undefined
}

interface TokenAction<Input> extends Verb {
  readonly action: ActionDefinition
  /** A phantom: the compiler refuses it for kinds without `reports: ['actions']`. */
  readonly '~reports'?: 'actions'
  /** The request that was not handled yet. */
  requested(context: Pick<BaseContext, 'signal'>): TokenRequest<Input> | undefined
  /** Performs the pending request and records it in the status of this run. @returns whether there was one */
  handle(
    context: Pick<BaseContext, 'signal'>,
    perform: (request: TokenRequest<Input>) => Promise<void> | void,
  ): Promise<boolean>
}

interface TokenRun {
  readonly base: BaseContext
  readonly run: PluginRun
}

function tokenVerb<Input>(definition: ActionDefinition): TokenAction<Input> {
  const runs = new PerRun<TokenRun>(`action ${definition.name}`)
  const requested = (context: Pick<BaseContext, 'signal'>): TokenRequest<Input> | undefined => {
    const { object, isCleanup } = runs.get(context).run
    if (!object || isCleanup) return undefined
    const request = readActionRequest(object, definition.name)
    return request && request.token !== reportsOf(object).find(({ name }) => name === definition.name)?.lastHandled
      ? (request as TokenRequest<Input>)
      : undefined
  }
  return {
    name: `action ${definition.name}`,
    action: definition,
    requested,
    adds: ({ for: kind }) => {
      // A kind without a schema is defined elsewhere.
      if (kind.schema && !hasStatusField(kind, 'actions'))
        throw new RangeError(
          `action ${definition.name}: the form 'token' needs status.actions of ${kind.kind}, or every reconcile would perform it again: define its kind with a status and reports: ['actions']`,
        )
      return {}
    },
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
          name: definition.name,
          lastHandled: request.token,
          lastHandledTime: formatTime(base.clock.now()),
          state: 'Done',
        })
      return true
    },
  }
}

/** The action reports in the status. */
function reportsOf(object: KubeObject): readonly ActionReport[] {
  const { status } = object as { readonly status?: { readonly actions?: readonly ActionReport[] } }
  return Array.isArray(status?.actions) ? status.actions : []
}

/** Reports of this run by status writer: several actions may be handled in one run, and each adds its own. */
const reported = new WeakMap<StatusWriter, readonly ActionReport[]>()

function record(status: StatusWriter, object: KubeObject, report: ActionReport): void {
  const before = reported.get(status) ?? reportsOf(object)
  const actions = [...before.filter(({ name }) => name !== report.name), report].sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )
  reported.set(status, actions)
  status.set({ actions } as never)
}
