/**
 * The warning for names that kube-apiserver reserves for admission configuration in files.
 */
import type { ObjectDraft, WriteContext } from '../resource.ts'
import type { StrategyHooks } from '../strategy-flags.ts'

const reservedSuffix = '.static.k8s.io'

/** Hooks that also warn of a reserved name, at each create and update. */
export function warningOfReservedNames(hooks: StrategyHooks): StrategyHooks {
  return {
    ...hooks,
    prepareForCreate(object, context) {
      warnOfReservedName(object, context)
      hooks.prepareForCreate?.(object, context)
    },
    prepareForUpdate(object, old, context) {
      warnOfReservedName(object, context)
      hooks.prepareForUpdate?.(object, old, context)
    },
  }
}

function warnOfReservedName({ metadata: { name = '' } }: ObjectDraft, context: WriteContext): void {
  if (name.endsWith(reservedSuffix))
    context.warn(
      `metadata.name: names ending with "${reservedSuffix}" are reserved for static manifest-based configurations and cannot be managed via the API`,
    )
}
