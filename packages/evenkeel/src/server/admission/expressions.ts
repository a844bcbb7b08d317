/**
 * The variables of admission expressions, and match conditions.
 *
 * The `request` variable is the request of webhooks without uid, objects and empty fields. All match conditions must
 * be true: one that is false decides, whatever the errors of the others; otherwise an error decides. For a webhook
 * an error skips the call, and refuses the write unless its failure policy is `Ignore`.
 */
import {
  forbidden,
  loadAdmissionEngine,
  matchConditionsCostMax,
  type AdmissionCompiler,
  type AdmissionEvaluation,
  type AdmissionExpression,
  type AdmissionInput,
  type JsonObject,
  type UnstructuredObject,
} from '#api'
import type { Resource } from '@evenkeel/builtins'
import { userInfo } from '../auth/user.ts'
import type { AuthorizerChain } from '../authz/authorizer.ts'
import type { ResourceRef } from '../request-context.ts'
import type { AdmissionAttributes } from './admission.ts'
import type { Webhook } from './webhook-configurations.ts'

interface ExpressionInputOptions {
  /** The version in which the write matched; objects are given in it. */
  readonly resource: Resource
  readonly object: UnstructuredObject | undefined
  readonly old: UnstructuredObject | undefined
  readonly authorizer: AuthorizerChain
  readonly namespaceObject?: UnstructuredObject | undefined
  readonly params?: UnstructuredObject | undefined
}

/** The variables for a write. */
export function expressionInput(
  admitted: AdmissionAttributes,
  { resource, object, old, authorizer, namespaceObject, params }: ExpressionInputOptions,
): AdmissionInput {
  return {
    object: object,
    oldObject: old,
    request: requestFields(admitted, resource),
    namespaceObject: namespaceObject,
    params: params,
    user: admitted.user,
    authorize: (check) => authorizer.decide(check),
  }
}

/** The fields of an AdmissionRequest but uid, object and oldObject; empty ones are left out. */
export function requestFields(
  { operation, target, user, dryRun, options }: AdmissionAttributes,
  resource: Resource,
): JsonObject {
  const subresource = target.subresource?.name
  return {
    kind: kindOf({ ...target, resource }),
    resource: resourceOf(resource),
    ...(subresource !== undefined && { subResource: subresource }),
    requestKind: kindOf(target),
    requestResource: resourceOf(target.resource),
    ...(subresource !== undefined && { requestSubResource: subresource }),
    ...(target.name !== '' && { name: target.name }),
    ...(namespaceOf(target) !== '' && { namespace: namespaceOf(target) }),
    operation,
    userInfo: user === undefined ? {} : userInfo(user),
    dryRun,
    options,
  }
}

/** The namespace of a Namespace is itself. */
function namespaceOf({ resource, namespace, name }: ResourceRef): string {
  return resource.isNamespace ? name : namespace
}

/** The kind of what is written: a subresource may have one of its own. */
function kindOf({ resource, subresource }: Pick<ResourceRef, 'resource' | 'subresource'>): JsonObject {
  const form =
    subresource === undefined
      ? resource
      : (resource.subresources.find(({ name }) => name === subresource.name) ?? subresource)
  return { group: form.group, version: form.version, kind: form.kind }
}

function resourceOf({ group, version, plural }: Resource): JsonObject {
  return { group, version, resource: plural }
}

type ConditionsResult = { readonly isMet: boolean; readonly error?: undefined } | { readonly error: string }

/** Whether all conditions are true, or the error. */
export async function meetsConditions(
  conditions: readonly AdmissionExpression[],
  evaluation: AdmissionEvaluation,
): Promise<ConditionsResult> {
  const errors: string[] = []
  let isMet = true
  for (const condition of conditions) {
    const asked = evaluation.evaluate(condition)
    const outcome = asked instanceof Promise ? await asked : asked
    if (outcome.error === undefined) isMet &&= outcome.value === true
    else if (outcome.isExhausted) return { error: outcome.error }
    else errors.push(outcome.error)
  }
  return isMet && errors.length > 0 ? { error: joinErrors([...new Set(errors)]) } : { isMet }
}

/** Several errors as one text, in upstream's format. */
function joinErrors(errors: readonly string[]): string {
  return errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`
}

interface CompiledConditions {
  readonly compiler: AdmissionCompiler
  readonly expressions: readonly AdmissionExpression[]
}

const compiledConditions = new WeakMap<Webhook, CompiledConditions>()

/**
 * Whether the match conditions of a webhook hold for a write.
 *
 * @throws {ApiError} `Forbidden`, when they fail and the failure policy is `Fail`.
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
