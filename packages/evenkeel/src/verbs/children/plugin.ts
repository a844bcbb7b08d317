/**
 * Puts `children` into the context of every run of a manager.
 */
import type { Kind, Owner } from '#api'
import { PerRun } from '#controller'
import type { BaseContext, ContextPlugin, PluginRun } from '#controller'
import type { ChildrenContext } from './children.ts'
import { inventoryStep, inventoryOf } from './taking/inventory.ts'
import { AppliedCache } from './making/likeness.ts'
import { childrenConditionType } from './report.ts'
import { RunChildren } from './run-children.ts'
import { ChildWatches } from './watches.ts'

export interface ChildrenOptions {
  /** Call functions given to `children.declare` twice, and refuse those that give something else. @default false */
  readonly checkDeterminism?: boolean
}

/** What a controller keeps from run to run; all of it may be lost. */
interface ControllerState {
  readonly applied: AppliedCache
  readonly watches: ChildWatches
}

/** The children of a run, for those who build on them. */
export const childrenOf = new PerRun<RunChildren>('children')

export function childrenPlugin({ checkDeterminism = false }: ChildrenOptions = {}): ContextPlugin<ChildrenContext> {
  const kept = new Map<string, ControllerState>()
  const firstOf = new Map<string, string>()
  const keptOf = (controller: string): ControllerState => {
    const known = kept.get(controller)
    if (known) return known
    const made = { applied: new AppliedCache(), watches: new ChildWatches() }
    kept.set(controller, made)
    return made
  }
  const reporterOf = ({ kind, controller }: PluginRun): string | undefined =>
    firstOf.get(kindText(kind)) === controller ? undefined : controller
  return {
    name: 'children',
    extend(base, run) {
      const { object } = run
      if (!object) return { context: { children: noChildren(run) } }
      const children = new RunChildren(
        { base, run, parent: object as Owner, reporter: reporterOf(run), ...keptOf(run.controller) },
        { checkDeterminism },
      )
      childrenOf.set(base, children)
      if (!run.isCleanup) return { context: { children }, finish: () => children.finish() }
      beginCleanup(base, run, { ...keptOf(run.controller), condition: childrenConditionType(reporterOf(run)) })
      return { context: { children } }
    },
    steps(declaration, controller) {
      const kind = kindText(declaration.for)
      if (!firstOf.has(kind)) firstOf.set(kind, controller)
      return inventoryStep(declaration, controller)
    },
    async absent({ key }, { controller }) {
      await kept.get(controller)?.watches.setKinds(key, [])
    },
  }
}

/** Says that it is over, and listens for what goes. */
function beginCleanup(
  { key }: BaseContext,
  run: PluginRun,
  { watches, condition }: ControllerState & { readonly condition: string },
): void {
  const { object, controller, status, kind } = run
  if (!object) return
  for (const id of inventoryOf(object, controller)) watches.need(run, id, key)
  const conditions = (object as { readonly status?: { readonly conditions?: unknown } }).status?.conditions
  const wasSaid =
    Array.isArray(conditions) && conditions.some((one) => (one as { type?: unknown } | null)?.type === condition)
  if (wasSaid && kind.subresources.status)
    status?.condition(condition, false, { reason: 'Terminating', message: 'its parent is being deleted' })
}

function kindText({ group, kind }: Pick<Kind, 'group' | 'kind'>): string {
  return `${kind}.${group}`
}

/** A run by key alone has no parent. */
function noChildren({ kind }: PluginRun): never {
  return new Proxy(
    {},
    {
      get: (_, name) => {
        throw new RangeError(
          `children.${String(name)} needs an object: the controller for ${kind.kind} is given keys alone (reconcileKey)`,
        )
      },
    },
  ) as never
}
