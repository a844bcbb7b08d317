/**
 * Leases: durations and counts make sense; a preferred holder needs a strategy that could prefer it.
 */
import { checkQualifiedName, fieldError, FieldPath } from '#api'
import type { FieldError, JsonObject } from '#api'
import { requireNonNegative, requirePositive } from '../checks.ts'
import type { Hooks } from '../hooks.ts'
import { numberIn, objectIn, textIn } from '../reading.ts'

const specPath = FieldPath.of('spec')
const strategies = ['OldestEmulationVersion']

export const leaseRules: Hooks = {
  validate(object) {
    const spec = objectIn(object, 'spec')
    return [
      ...requirePositive(numberIn(spec, 'leaseDurationSeconds'), specPath.child('leaseDurationSeconds')),
      ...requireNonNegative(numberIn(spec, 'leaseTransitions'), specPath.child('leaseTransitions')),
      ...validateStrategy(spec),
    ]
  },
}

function validateStrategy(spec: JsonObject): FieldError[] {
  const [strategy, path] = [textIn(spec, 'strategy'), specPath.child('strategy')]
  const errors: FieldError[] = []
  if (spec['strategy'] !== undefined) {
    const parts = strategy.split('/').length
    if (parts === 1 && !strategies.includes(strategy)) errors.push(fieldError.notSupported(path, strategy, strategies))
    else if (parts === 2) errors.push(...checkQualifiedName(strategy).map((complaint) => fieldError.invalid(path, strategy, complaint)))
    else if (parts > 2) errors.push(fieldError.invalid(path, strategy, 'must have at most one slash'))
  }
  if (textIn(spec, 'preferredHolder') !== '' && strategy === '') {
    errors.push(fieldError.forbidden(specPath.child('preferredHolder'), 'may only be specified if `strategy` is defined'))
  }
  return errors
}
