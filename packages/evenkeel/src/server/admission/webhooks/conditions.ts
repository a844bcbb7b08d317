/**
 * Match conditions of a webhook: expressions that all have to be true for it to be asked.
 *
 * An error is a reason not to ask, and a reason to refuse the write unless the webhook's failures are to be ignored.
 */
import { conditionsCostMax, forbidden, loadAdmissionLanguage } from '#api'
import type { AdmissionCompiler, AdmissionExpression, AdmissionInput } from '#api'
import type { Target } from '../../call.ts'
import { meetsConditions } from '../matching/conditions.ts'
import type { Webhook } from './webhook.ts'

interface Compiled {
  readonly compiler: AdmissionCompiler
  readonly expressions: readonly AdmissionExpression[]
}

const compiled = new WeakMap<Webhook, Compiled>()

/**
 * Whether the conditions of a webhook hold for a write.
 *
 * @throws {ApiError} `Forbidden`, when that cannot be said and the webhook may not be left out.
 */
export async function conditionsHold(webhook: Webhook, target: Target, input: AdmissionInput): Promise<boolean> {
  const { compiler, expressions } = compiled.get(webhook) ?? (await compile(webhook))
  const met = await meetsConditions(expressions, compiler.start(input, { budget: conditionsCostMax }))
  if (met.error === undefined) return met.isMet
  if (webhook.ignoresFailure) return false
  const {
    resource: { group, plural },
    name,
  } = target
  throw forbidden({ group, kind: plural, name }, met.error)
}

async function compile(webhook: Webhook): Promise<Compiled> {
  const compiler = (await loadAdmissionLanguage()).compiler()
  const made = {
    compiler,
    expressions: webhook.conditions.map(({ expression }) => compiler.compile(expression, { gives: ['bool'] })),
  }
  compiled.set(webhook, made)
  return made
}
