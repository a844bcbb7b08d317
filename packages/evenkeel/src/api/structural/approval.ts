/**
 * Groups of the Kubernetes community are not for everybody: a definition in one says who approved it, or that nobody did.
 */
import { fieldError } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import { FieldPath } from '../error/field-path.ts'
import type { JsonObject } from '../json.ts'
import { objectIn, textIn } from './reading.ts'

const annotation = 'api-approved.kubernetes.io'
const discussion = 'see https://github.com/kubernetes/enhancements/pull/1111'

/** Complains of an approval that is missing or no approval, unless it was like that before. */
export function checkApproval(definition: JsonObject, old: JsonObject | undefined): FieldError[] {
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(textIn(objectIn(definition, 'spec'), 'group'))) return []
  const approval = approvalOf(definition)
  const state = stateOf(approval)
  if (state === 'fine' || (old !== undefined && stateOf(approvalOf(old)) === state)) return []
  const path = FieldPath.of('metadata', 'annotations').key(annotation)
  const reason = `protected groups must have approval annotation "${annotation}"`
  if (state === 'missing') return [fieldError.required(path, `${reason}, ${discussion}`)]
  return [fieldError.invalid(path, approval, `${reason} with either a URL or a reason starting with "unapproved", ${discussion}`)]
}

function approvalOf(definition: JsonObject): string {
  return textIn(objectIn(objectIn(definition, 'metadata'), 'annotations'), annotation)
}

function stateOf(approval: string): 'fine' | 'missing' | 'odd' {
  if (approval === '') return 'missing'
  return approval.startsWith('unapproved') || /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+/i.test(approval) ? 'fine' : 'odd'
}
