/**
 * A verb: one declaration of an author, from which watches, permissions, finalizers, kinds and a part of every run follow.
 *
 * Verbs are values. They are listed in `verbs` of a controller's declaration, which is then as if the author had written
 * all that by hand; what they keep between two runs is on the server, never in them.
 */
import type { ActionDefinition, Kind } from '#api'
import type { ContextPlugin } from './context/context.ts'
import type { CleanupStep, ControllerDeclaration } from './declaration.ts'

/** What follows from a verb. */
export interface VerbParts extends Pick<ControllerDeclaration, 'owns' | 'watches' | 'sources' | 'rbac'> {
  /** Put on with the author's own finalizers; cleaned up after them, those of the last verb first. */
  readonly cleanup?: readonly CleanupStep[]
}

export interface Verb<Extra extends object = object> extends ContextPlugin<Extra> {
  /** Kinds of its own that must be installed. @default none */
  readonly kinds?: readonly Kind[]
  /** What people may ask for, written into the definition of the controller's kind. */
  readonly action?: ActionDefinition
  /** What follows for this declaration. @default nothing. @throws {RangeError} for one it cannot be part of. */
  adds?(declaration: ControllerDeclaration): VerbParts
}

/** The declaration with everything that follows from its verbs. */
export function withVerbs(declaration: ControllerDeclaration, finalizerOf: () => string): ControllerDeclaration {
  const { verbs = [] } = declaration
  if (verbs.length === 0) return declaration
  const parts = verbs.map((verb) => verb.adds?.(declaration) ?? {})
  const cleanup = [...ownSteps(declaration, finalizerOf), ...parts.toReversed().flatMap((part) => part.cleanup ?? [])]
  const { cleanup: _, finalizer: __, ...rest } = declaration
  return {
    ...rest,
    owns: distinctKinds([...(declaration.owns ?? []), ...parts.flatMap(({ owns = [] }) => owns)]),
    watches: [...(declaration.watches ?? []), ...parts.flatMap(({ watches = [] }) => watches)],
    sources: [...(declaration.sources ?? []), ...parts.flatMap(({ sources = [] }) => sources)],
    rbac: [...(declaration.rbac ?? []), ...parts.flatMap(({ rbac = [] }) => rbac)],
    ...(declaration.reconcile && { reconcile: declaration.reconcile.bind(declaration) }),
    ...(declaration.reconcileKey && { reconcileKey: declaration.reconcileKey.bind(declaration) }),
    ...(cleanup.length > 0 && { cleanup }),
  }
}

function ownSteps(declaration: ControllerDeclaration, finalizerOf: () => string): readonly CleanupStep[] {
  const { cleanup, finalizer = finalizerOf() } = declaration
  if (cleanup === undefined) return []
  return typeof cleanup === 'function'
    ? [{ finalizer, cleanup: (object, context) => cleanup.call(declaration as CleanupStep, object, context) }]
    : cleanup
}

/** A kind that the author and a verb both name is watched once. */
function distinctKinds(owns: NonNullable<ControllerDeclaration['owns']>): NonNullable<ControllerDeclaration['owns']> {
  const seen = new Set<string>()
  return owns.filter((owned) => {
    const { apiVersion, kind } = 'group' in owned ? owned : owned.kind
    const isNew = !seen.has(`${apiVersion} ${kind}`)
    seen.add(`${apiVersion} ${kind}`)
    return isNew
  })
}
