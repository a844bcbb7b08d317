/**
 * Match conditions of a webhook: expressions that all have to be true for it to be asked.
 *
 * An error is a reason not to ask, and a reason to refuse the write unless the webhook's failures are to be ignored.
 */
import { matchConditionsCostMax, forbidden, loadAdmissionEngine } from '#api'
import type { AdmissionCompiler, AdmissionExpression, AdmissionInput } from '#api'
import type { ResourceRef } from '../../call.ts'
import { meetsConditions } from '../matching/conditions.ts'
import type { Webhook } from './webhook.ts'

interface CompiledConditions {
  readonly compiler: AdmissionCompiler
  readonly expressions: readonly AdmissionExpression[]
}

const compiledConditions = new WeakMap<Webhook, CompiledConditions>()

/**
 * Whether the conditions of a webhook hold for a write.
 *
 * @throws {ApiError} `Forbidden`, when that cannot be said and the webhook may not be left out.
 */
export async function webhookConditionsMatch(
  webhook: Webhook,
  target: ResourceRef,
  input: AdmissionInput,
): Promise<boolean> {
  const { compiler, expressions } = compiledConditions.get(webhook) ?? (await compileConditions(webhook))
  const met = await meetsConditions(expressions, compiler.start(input, { budget: matchConditionsCostMax }))
  if (met.error === undefined) return met.isMet
  if (webhook.ignoresFailure) return false
  const {
    resource: { group, plural },
    name,
  } = target
  throw forbidden({ group, kind: plural, name }, met.error)
}

async function compileConditions(webhook: Webhook): Promise<CompiledConditions> {
  const compiler = (await loadAdmissionEngine()).compiler()
  const made = {
    compiler,
    expressions: webhook.conditions.map(({ expression }) => compiler.compile(expression, { resultTypes: ['bool'] })),
  }
  compiledConditions.set(webhook, made)
  return made
}
