/**
 * An action of the form `token`: a stamp on the object, compared with the one that was handled last.
 *
 * The stamp outlives whoever was down; the same stamp is never handled twice once the status says so. Between the effect
 * and that status lies one write: a crash there repeats the effect, so it must bear being repeated.
 */
import { formatTime, readActionRequest } from '#api'
import type { ActionReport, ActionRequest, ActionDefinition, KubeObject } from '#api'
import { PerRun } from '#controller'
import type { BaseContext, PluginRun, StatusWriter, Verb } from '#controller'

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

export function tokenVerb<Input>(sheet: ActionDefinition): TokenAction<Input> {
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
