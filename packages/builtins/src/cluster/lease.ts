/**
 * Leases. Coordinated leader election, a feature gate of kube-apiserver, is disabled:
 * its fields are dropped unless the stored object has them.
 */
import { FieldPath, numberIn, objectIn, type JsonObject } from 'evenkeel/unstable/builtins'
import { draftIn } from '../defaulting.ts'
import type { ObjectDraft } from '../resource.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { requireNonNegative, requirePositive } from '../validation.ts'

const specPath = FieldPath.of('spec')
const nothing: JsonObject = {}

export const leaseStrategy: StrategyHooks = {
  prepareForCreate: (object) => dropElection(object, nothing),
  prepareForUpdate: (object, old) => dropElection(object, objectIn(old, 'spec')),
  validate(object) {
    const spec = objectIn(object, 'spec')
    return [
      ...requirePositive(numberIn(spec, 'leaseDurationSeconds'), specPath.child('leaseDurationSeconds')),
      ...requireNonNegative(numberIn(spec, 'leaseTransitions'), specPath.child('leaseTransitions')),
    ]
  },
}

function dropElection(object: ObjectDraft, before: JsonObject): void {
  const spec = draftIn(object, 'spec')
  if (spec === undefined) return
  for (const key of ['strategy', 'preferredHolder']) if (before[key] === undefined) delete spec[key]
}
