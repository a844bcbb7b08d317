/**
 * Validates a CustomResourceDefinition: names, versions, schemas, conversion, approval, and what an update may change.
 *
 * Paths and messages are those of apiextensions-apiserver 1.36. The CRD is expected to have its defaults. Everything is
 * pure: checks that need a pattern engine or CEL are passed in.
 *
 * A CRD in a group of the Kubernetes community (`*.k8s.io`, `*.kubernetes.io`) must name its approval in an annotation, or
 * say that it has none. Errors about conversion use the field names of the internal version, `webhookClientConfig` for
 * `webhook.clientConfig`: tools search for them.
 */
import { pushAll, checkDns1035Label, checkDnsSubdomain, type JsonObject } from '@evenkeel/cel/primitives'
import type { ConditionStatus, NewCondition } from '../conditions.ts'
import { errorsOfEach, fieldError, FieldPath, type FieldError } from '../errors/field-error.ts'
import { isSet, objectIn, objectsIn, optionalObjectIn, textIn, textsIn } from '../fields.ts'
import type { SchemaChecks } from './version-schema.ts'
import { checkCrdNames, checkVersions } from './versions.ts'

interface CrdChecks extends SchemaChecks {
  /**
   * Checks where a conversion webhook is.
   *
   * @default it may be anywhere
   */
  readonly checkClientConfig?: ClientConfigCheck
}

export interface ValidateCrdOptions extends CrdChecks {
  /** The stored CRD, for an update. */
  readonly old?: JsonObject
}

/** The errors of a CRD, and of the change from the stored one. */
export function validateCrd(crd: JsonObject, { old, ...checks }: ValidateCrdOptions = {}): FieldError[] {
  const [spec, status] = [objectIn(crd, 'spec'), objectIn(crd, 'status')]
  return [
    ...(old === undefined ? checkObjectName(crd, spec) : []),
    ...checkSpec(spec, { ...checks, oldSpec: old && objectIn(old, 'spec') }),
    ...(old === undefined ? [] : validateCrdUpdate(crd, old)),
    ...validateCrdStatus(crd),
    ...checkStoredVersions(spec, status),
    ...checkApproval(crd, old),
    ...checkPreserving(spec, old),
  ]
}

/** What an update may not change: names always, scope and kind as soon as objects may exist. */
function validateCrdUpdate(crd: JsonObject, old: JsonObject): FieldError[] {
  const [spec, oldSpec] = [objectIn(crd, 'spec'), objectIn(old, 'spec')]
  const [names, oldNames] = [objectIn(spec, 'names'), objectIn(oldSpec, 'names')]
  const path = FieldPath.of('spec')
  return [
    ...(isEstablished(old)
      ? [
          ...requireSame(textIn(spec, 'scope'), textIn(oldSpec, 'scope'), path.child('scope')),
          ...requireSame(textIn(names, 'kind'), textIn(oldNames, 'kind'), path.child('names', 'kind')),
        ]
      : []),
    ...requireSame(textIn(spec, 'group'), textIn(oldSpec, 'group'), path.child('group')),
    ...requireSame(textIn(names, 'plural'), textIn(oldNames, 'plural'), path.child('names', 'plural')),
  ]
}

/** The errors of the status of a CRD: all that a write to the status is validated by. */
export function validateCrdStatus(crd: JsonObject): FieldError[] {
  return checkCrdNames(objectIn(objectIn(crd, 'status'), 'acceptedNames'), FieldPath.of('status', 'acceptedNames'))
}

function checkObjectName(crd: JsonObject, spec: JsonObject): FieldError[] {
  const name = textIn(objectIn(crd, 'metadata'), 'name')
  if (name === `${textIn(objectIn(spec, 'names'), 'plural')}.${textIn(spec, 'group')}`) return []
  return [fieldError.invalid(FieldPath.of('metadata', 'name'), name, 'must be spec.names.plural+"."+spec.group')]
}

function checkSpec(spec: JsonObject, checks: CrdChecks & { readonly oldSpec: JsonObject | undefined }): FieldError[] {
  const path = FieldPath.of('spec')
  const [names, scope] = [objectIn(spec, 'names'), textIn(spec, 'scope')]
  const errors = checkGroup(textIn(spec, 'group'), path.child('group'))
  if (scope === '') errors.push(fieldError.required(path.child('scope')))
  else if (!['Cluster', 'Namespaced'].includes(scope))
    errors.push(fieldError.notSupported(path.child('scope'), scope, ['Cluster', 'Namespaced']))
  pushAll(errors, checkVersions(spec, checks))
  for (const name of ['plural', 'singular', 'kind', 'listKind']) {
    if (textIn(names, name) === '') errors.push(fieldError.required(path.child('names', name)))
  }
  return [
    ...errors,
    ...checkCrdNames(names, path.child('names')),
    ...checkConversion(spec, path.child('conversion'), checks.checkClientConfig ?? (() => [])),
  ]
}

function checkGroup(group: string, path: FieldPath): FieldError[] {
  if (group === '') return [fieldError.required(path)]
  const complaints = checkDnsSubdomain(group)
  if (complaints.length > 0) return [fieldError.invalid(path, group, complaints.join(','))]
  return group.includes('.') ? [] : [fieldError.invalid(path, group, 'should be a domain with at least one dot')]
}

/** Versions that objects may be stored in must stay until those objects are rewritten and the status no longer lists them. */
function checkStoredVersions(spec: JsonObject, status: JsonObject): FieldError[] {
  const path = FieldPath.of('status', 'storedVersions')
  const [stored, versions] = [textsIn(status, 'storedVersions'), objectsIn(spec, 'versions')]
  if (stored.length === 0) return [fieldError.invalid(path, null, 'must have at least one stored version')]
  const missing = versions.filter((version) => isSet(version, 'storage') && !stored.includes(textIn(version, 'name')))
  const known = new Set(versions.map((version) => textIn(version, 'name')))
  return [
    ...missing.map((version) =>
      fieldError.invalid(path, stored, `must have the storage version ${textIn(version, 'name')}`),
    ),
    ...errorsOfEach(stored, (name, index) =>
      known.has(name) || stored.lastIndexOf(name) > index
        ? []
        : [fieldError.invalid(path.index(index), name, stillStored(name))],
    ),
  ]
}

function stillStored(name: string): string {
  return (
    `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ` +
    `ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`
  )
}

function checkPreserving(spec: JsonObject, old: JsonObject | undefined): FieldError[] {
  if (
    !isSet(spec, 'preserveUnknownFields') ||
    (old !== undefined && isSet(objectIn(old, 'spec'), 'preserveUnknownFields'))
  )
    return []
  const detail =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
  return [fieldError.invalid(FieldPath.of('spec', 'preserveUnknownFields'), true, detail)]
}

function isEstablished(crd: JsonObject): boolean {
  const conditions = objectsIn(objectIn(crd, 'status'), 'conditions')
  return conditions.some(
    (condition) => textIn(condition, 'type') === 'Established' && textIn(condition, 'status') === 'True',
  )
}

function requireSame(value: string, old: string, path: FieldPath): FieldError[] {
  return value === old ? [] : [fieldError.invalid(path, value, 'field is immutable')]
}

// Approval of protected groups.

const annotation = 'api-approved.kubernetes.io'
const discussion = 'see https://github.com/kubernetes/enhancements/pull/1111'

/** Complains of an approval that is missing or no approval, unless it was like that before. */
function checkApproval(crd: JsonObject, old: JsonObject | undefined): FieldError[] {
  if (!isProtected(textIn(objectIn(crd, 'spec'), 'group'))) return []
  const approval = approvalOf(crd)
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

/** The condition about the approval of a CRD; undefined where none is needed. */
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

function approvalOf(crd: JsonObject): string {
  return textIn(objectIn(objectIn(crd, 'metadata'), 'annotations'), annotation)
}

function stateOf(approval: string): 'fine' | 'missing' | 'odd' {
  if (approval === '') return 'missing'
  return approval.startsWith('unapproved') || /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+/i.test(approval) ? 'fine' : 'odd'
}

// Conversion between versions.

/** Checks where a webhook is; the rules are those of all webhooks. */
type ClientConfigCheck = (config: JsonObject, path: FieldPath) => FieldError[]

function checkConversion(spec: JsonObject, path: FieldPath, checkClientConfig: ClientConfigCheck): FieldError[] {
  const conversion = optionalObjectIn(spec, 'conversion')
  if (conversion === undefined) return []
  const strategy = textIn(conversion, 'strategy')
  const errors = checkStrategy(strategy, path.child('strategy'))
  if (strategy !== 'None' && isSet(spec, 'preserveUnknownFields')) {
    errors.push(
      fieldError.invalid(path.child('strategy'), strategy, 'must be None if spec.preserveUnknownFields is true'),
    )
  }
  const webhook = objectIn(conversion, 'webhook')
  return [
    ...errors,
    ...(strategy === 'Webhook' ? checkWebhook(webhook, path, checkClientConfig) : checkNoWebhook(webhook, path)),
  ]
}

function checkStrategy(strategy: string, path: FieldPath): FieldError[] {
  if (strategy === '') return [fieldError.required(path)]
  return ['None', 'Webhook'].includes(strategy) ? [] : [fieldError.notSupported(path, strategy, ['None', 'Webhook'])]
}

function checkWebhook(webhook: JsonObject, path: FieldPath, checkClientConfig: ClientConfigCheck): FieldError[] {
  const [config, at] = [optionalObjectIn(webhook, 'clientConfig'), path.child('webhookClientConfig')]
  const place =
    config === undefined
      ? [fieldError.required(at, 'required when strategy is set to Webhook')]
      : checkClientConfig(config, at)
  return [
    ...place,
    ...checkReviewVersions(textsIn(webhook, 'conversionReviewVersions'), path.child('conversionReviewVersions')),
  ]
}

function checkNoWebhook(webhook: JsonObject, path: FieldPath): FieldError[] {
  const detail = 'should not be set when strategy is not set to Webhook'
  const errors: FieldError[] = []
  if (optionalObjectIn(webhook, 'clientConfig') !== undefined)
    errors.push(fieldError.forbidden(path.child('webhookClientConfig'), detail))
  if (textsIn(webhook, 'conversionReviewVersions').length > 0)
    errors.push(fieldError.forbidden(path.child('conversionReviewVersions'), detail))
  return errors
}

const knownReviewVersions = ['v1', 'v1beta1']

function checkReviewVersions(versions: readonly string[], path: FieldPath): FieldError[] {
  if (versions.length === 0) return [fieldError.required(path)]
  const errors = errorsOfEach(versions, (version, index) => {
    if (versions.indexOf(version) < index) return [fieldError.invalid(path.index(index), version, 'duplicate version')]
    return checkDns1035Label(version).map((complaint) => fieldError.invalid(path.index(index), version, complaint))
  })
  if (!versions.some((version) => knownReviewVersions.includes(version))) {
    errors.push(fieldError.invalid(path, versions, `must include at least one of ${knownReviewVersions.join(', ')}`))
  }
  return errors
}
