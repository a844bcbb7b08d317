/**
 * Reviews that ask what somebody may do: one thing, or everything in a namespace.
 *
 * They are answered by the same door that every call goes through, so what they say is what would happen.
 */
import { badRequest, invalid } from '#api'
import type { JsonObject } from '#api'
import { formatErrors } from '../../access/access.ts'
import type { AuthorizerChain } from '../../access/access.ts'
import { toRuleObject } from '../../access/policy-rule.ts'
import { objectIn, textIn } from '../../builtin/rules/reading.ts'
import type { RequestContext, ResourceRef } from '../../call.ts'
import type { ObjectDraft } from '../../resources/resource.ts'
import { attributesIn, userIn } from './question.ts'
import { validateAccessReview } from './validate-review.ts'

interface AccessReviewContext {
  readonly call: RequestContext
  readonly target: ResourceRef
  readonly authorizer: AuthorizerChain
}

/**
 * The status of a SubjectAccessReview, LocalSubjectAccessReview or SelfSubjectAccessReview.
 *
 * @throws {ApiError} `Invalid` or `BadRequest`
 */
export async function accessStatus(
  review: ObjectDraft,
  {
    call,
    target: {
      resource: { kind, group },
      namespace,
    },
    authorizer,
  }: AccessReviewContext,
): Promise<JsonObject> {
  if (kind === 'LocalSubjectAccessReview') completeReviewNamespace(review, namespace)
  const errors = validateAccessReview(review, kind)
  if (errors.length > 0) throw invalid({ group, kind: '', name: '' }, errors)
  const spec = objectIn(review as JsonObject, 'spec')
  const { question, errors: ignored } = attributesIn(
    spec,
    kind === 'SelfSubjectAccessReview' ? call.user : userIn(spec),
  )
  const { allowed, noOpinion: undecided, reason: why, error } = await authorizer.decide(question)
  const evaluationError = [...(error === undefined ? [] : [error]), ...ignored].join('; ')
  return {
    allowed,
    ...(!allowed && !undecided && { denied: true }),
    ...(why !== '' && { reason: why }),
    ...(evaluationError !== '' && { evaluationError }),
  }
}

function completeReviewNamespace({ metadata }: ObjectDraft, namespace: string): void {
  const given = metadata['namespace'] ?? ''
  if (given !== '' && given !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  metadata['namespace'] = namespace
}

/**
 * The status of a SelfSubjectRulesReview.
 *
 * @throws {ApiError} `BadRequest`, when it names no namespace
 */
export function rulesStatus(review: ObjectDraft, { call: { user }, authorizer }: AccessReviewContext): JsonObject {
  const namespace = textIn(objectIn(review as JsonObject, 'spec'), 'namespace')
  if (namespace === '') throw badRequest('no namespace on request')
  const { rules, incomplete, errors } = authorizer.rulesFor(user, namespace)
  return {
    resourceRules: rules
      .filter(({ resources }) => resources.length > 0)
      .map((rule) => toRuleObject({ ...rule, nonResourceURLs: [] })),
    nonResourceRules: rules
      .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs: [...verbs], nonResourceURLs: [...nonResourceURLs] })),
    incomplete,
    ...(errors.length > 0 && { evaluationError: formatErrors(errors) }),
  }
}
