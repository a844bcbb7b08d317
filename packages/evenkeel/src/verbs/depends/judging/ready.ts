/**
 * Whether an object that others depend on will do: by the rule of the author, or by what it says about itself.
 *
 * One thing is asked beyond the general rule: where a kind is known to report which generation its controller has seen,
 * an object without such a report has not been seen by anybody, and what nobody has looked at is not ready.
 */
import { getOwn, isJsonObject } from '#api'
import type { Kind, KubeObject } from '#api'
import { observedGenerationOf } from '../../readiness/readiness.ts'
import { readinessCheckFor } from '../../readiness/ready-rule.ts'
import type { ReadinessCheck, ReadyRule } from '../../readiness/ready-rule.ts'
import type { Readiness } from '../../readiness/verdict.ts'

export type IsReady = (object: KubeObject, kind: Kind | undefined) => Promise<Readiness>

export function isReadyBy(rule: ReadyRule<never> | undefined): IsReady {
  // Compiled now: a reconcile that waits for a file is no longer the same each time. Who asks hears of a mistake.
  const judging: Promise<ReadinessCheck> = readinessCheckFor(rule)
  judging.catch(() => undefined)
  return async (object, kind) => {
    const unseen =
      rule === undefined &&
      object.metadata.generation !== undefined &&
      observedGenerationOf(object) === undefined &&
      reportsGeneration(kind)
    if (unseen) return { state: 'Pending', reason: 'NotObserved', message: 'its controller has not seen it yet' }
    return (await judging)(object)
  }
}

/** Whether objects of a kind say which generation their controller has seen. */
function reportsGeneration(kind: Kind | undefined): boolean {
  const root = kind?.schema
  const status = isJsonObject(root?.['properties']) ? getOwn(root['properties'], 'status') : undefined
  return (
    isJsonObject(status) &&
    isJsonObject(status['properties']) &&
    getOwn(status['properties'], 'observedGeneration') !== undefined
  )
}
