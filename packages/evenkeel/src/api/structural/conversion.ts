/**
 * Rules about how a definition's versions are turned into each other.
 *
 * Paths name the fields as upstream's inner form does: `webhookClientConfig` for `webhook.clientConfig`. Tools look for
 * them in messages.
 */
import { fieldError } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import type { FieldPath } from '../error/field-path.ts'
import type { JsonObject } from '../json.ts'
import { checkDns1035Label } from '../names.ts'
import { isSet, objectIn, optionalObjectIn, textIn, textsIn } from './reading.ts'

/** Checks where a webhook is; the rules are those of all webhooks. */
export type ClientConfigCheck = (config: JsonObject, path: FieldPath) => FieldError[]

export function checkConversion(spec: JsonObject, path: FieldPath, checkClientConfig: ClientConfigCheck): FieldError[] {
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
  const errors = versions.flatMap((version, index) => {
    if (versions.indexOf(version) < index) return [fieldError.invalid(path.index(index), version, 'duplicate version')]
    return checkDns1035Label(version).map((complaint) => fieldError.invalid(path.index(index), version, complaint))
  })
  if (!versions.some((version) => knownReviewVersions.includes(version))) {
    errors.push(fieldError.invalid(path, versions, `must include at least one of ${knownReviewVersions.join(', ')}`))
  }
  return errors
}
