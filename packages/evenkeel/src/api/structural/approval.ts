/**
 * Groups of the Kubernetes community are not for everybody: a definition in one says who approved it, or that nobody did.
 */
import { fieldError } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import { FieldPath } from '../error/field-path.ts'
import type { ConditionStatus, NewCondition } from '../conditions.ts'
import type { JsonObject } from '../json.ts'
import { objectIn, textIn } from './reading.ts'

const annotation = 'api-approved.kubernetes.io'
const discussion = 'see https://github.com/kubernetes/enhancements/pull/1111'

/** Complains of an approval that is missing or no approval, unless it was like that before. */
export function checkApproval(definition: JsonObject, old: JsonObject | undefined): FieldError[] {
  if (!isProtected(textIn(objectIn(definition, 'spec'), 'group'))) return []
  const approval = approvalOf(definition)
  const state = stateOf(approval)
  if (state === 'fine' || (old !== undefined && stateOf(approvalOf(old)) === state)) return []
  const path = FieldPath.of('metadata', 'annotations').key(annotation)
  const reason = `protected groups must have approval annotation "${annotation}"`
  if (state === 'missing') return [fieldError.required(path, `${reason}, ${discussion}`)]
  return [
    fieldError.invalid(
      path,
      approval,
      `${reason} with either a URL or a reason starting with "unapproved", ${discussion}`,
    ),
  ]
}

/** What the status of a definition says about its approval; undefined where none is needed. */
export function approvalCondition(
  group: string,
  annotations: Readonly<Record<string, string>>,
): NewCondition | undefined {
  if (!isProtected(group)) return undefined
  const approval = annotations[annotation] ?? ''
  const say = (status: ConditionStatus, why: string, message: string): NewCondition => ({
    type: 'KubernetesAPIApprovalPolicyConformant',
    status,
    reason: `${why}Annotation`,
    message,
  })
  const wanted = `protected groups must have approval annotation "${annotation}"`
  switch (stateOf(approval)) {
    case 'missing':
      return say('False', 'Missing', `${wanted}, ${discussion}`)
    case 'odd':
      return say(
        'False',
        'Invalid',
        `${wanted} with either a URL or a reason starting with "unapproved", ${discussion}`,
      )
    default:
      return approval.startsWith('unapproved')
        ? say('False', 'Unapproved', `not approved: ${JSON.stringify(approval)}`)
        : say('True', 'Approved', `approved in ${approval}`)
  }
}

function isProtected(group: string): boolean {
  return /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)
}

function approvalOf(definition: JsonObject): string {
  return textIn(objectIn(objectIn(definition, 'metadata'), 'annotations'), annotation)
}

function stateOf(approval: string): 'fine' | 'missing' | 'odd' {
  if (approval === '') return 'missing'
  return approval.startsWith('unapproved') || /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+/i.test(approval) ? 'fine' : 'odd'
}
