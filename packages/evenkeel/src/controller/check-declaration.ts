/**
 * Mistakes in a declaration, said when it is made and not when it runs.
 */
import { checkQualifiedName } from '#api'
import type { ControllerDeclaration } from './declaration.ts'
import { checkSteps, cleanupSteps } from './running/finalizing.ts'

/** The controller's name. @throws {RangeError} for a declaration that cannot be meant. */
export function checkDeclaration(declaration: ControllerDeclaration): string {
  const {
    for: kind,
    name = kind.kind.toLowerCase(),
    reconcile,
    reconcileKey,
    cleanup,
    concurrency = 1,
    timeoutMs,
    stuckMs,
    resyncMs = 0,
    verbs = [],
  } = declaration
  const who = `the controller ${name}`
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) || name.length > 63)
    throw new RangeError(
      `a controller's name has letters in lower case, digits, dots and dashes, got ${JSON.stringify(name)}`,
    )
  if (
    reconcileKey
      ? reconcile !== undefined || cleanup !== undefined
      : reconcile === undefined && cleanup === undefined && verbs.length === 0
  ) {
    throw new RangeError(
      `${who} needs a reconcile, with or without a cleanup, or verbs that do it all, or a reconcileKey and no cleanup`,
    )
  }
  if (!(Number.isInteger(concurrency) && concurrency >= 1))
    throw new RangeError(`the concurrency of ${who} must be a whole number of 1 or more, got ${concurrency}`)
  for (const [field, ms] of Object.entries({ timeoutMs, stuckMs })) {
    if (ms !== undefined && !(ms > 0 && ms < Infinity))
      throw new RangeError(`${field} of ${who} must be a number above 0, got ${ms}`)
  }
  if (!(resyncMs === 0 || (resyncMs >= 1000 && resyncMs < Infinity)))
    throw new RangeError(`resyncMs of ${who} must be 0 or at least 1000, got ${resyncMs}`)
  const steps = cleanupSteps(declaration, name)
  checkSteps(steps, kind)
  for (const { finalizer } of steps)
    for (const complaint of checkQualifiedName(finalizer))
      throw new RangeError(`the finalizer ${JSON.stringify(finalizer)} of ${who} is not allowed: ${complaint}`)
  return name
}
