/**
 * Webhook configurations: defaults that make a hook complete, and the mistakes that would make it useless.
 */
import { checkDns1035Label, checkDnsSubdomain, fieldError, FieldPath } from '#api'
import type { FieldError, JsonObject, JsonObjectDraft } from '#api'
import { allowOneOf, refuse, requireOneOf } from '../checks.ts'
import { draftIn, draftsIn, setDefault } from '../drafts.ts'
import type { StrategyHooks } from '../hooks.ts'
import { numberIn, objectIn, objectsIn, textIn, textsIn } from '../reading.ts'
import { validateSelectorIn } from '../selectors.ts'
import { validateClientConfig } from './client-config.ts'
import { loadExpressionLanguage } from './expressions.ts'
import { defaultMatchRules, matchPolicies, validateMatchConditions, validateMatchRule } from './match.ts'

const reviewVersions = ['v1', 'v1beta1']
const sideEffects = ['None', 'NoneOnDryRun']
const reinvocationPolicies = ['IfNeeded', 'Never']

export const failurePolicies = ['Fail', 'Ignore']
export const validatingWebhookStrategy: StrategyHooks = webhookStrategy({ mutating: false })
export const mutatingWebhookStrategy: StrategyHooks = webhookStrategy({ mutating: true })

function webhookStrategy({ mutating }: { mutating: boolean }): StrategyHooks {
  return {
    default: (object) =>
      draftsIn(object, 'webhooks').forEach((hook) => {
        defaultHook(hook)
        if (mutating) setDefault(hook, 'reinvocationPolicy', 'Never')
      }),
    async loadValidators(object) {
      if (objectsIn(object, 'webhooks').some((hook) => objectsIn(hook, 'matchConditions').length > 0))
        await loadExpressionLanguage()
    },
    validate: (object) => validateHooks(objectsIn(object, 'webhooks')),
  }
}

function defaultHook(hook: JsonObjectDraft): void {
  setDefault(hook, 'failurePolicy', 'Fail')
  setDefault(hook, 'matchPolicy', 'Equivalent')
  setDefault(hook, 'namespaceSelector', {})
  setDefault(hook, 'objectSelector', {})
  setDefault(hook, 'timeoutSeconds', 10)
  defaultMatchRules(hook, 'rules')
  const config = draftIn(hook, 'clientConfig')
  const service = config && draftIn(config, 'service')
  if (service !== undefined) setDefault(service, 'port', 443)
}

function validateHooks(hooks: readonly JsonObject[]): FieldError[] {
  const seen = new Set<string>()
  return hooks.flatMap((hook, index) => {
    const [path, name] = [FieldPath.of('webhooks').index(index), textIn(hook, 'name')]
    const duplicate = name !== '' && seen.has(name) ? [fieldError.duplicate(path.child('name'), name)] : []
    seen.add(name)
    return [
      ...validateHook(hook, path),
      ...validateVersions(textsIn(hook, 'admissionReviewVersions'), path.child('admissionReviewVersions')),
      ...duplicate,
    ]
  })
}

function validateHook(hook: JsonObject, path: FieldPath): FieldError[] {
  const timeout = numberIn(hook, 'timeoutSeconds') ?? 10
  return [
    ...validateHookName(textIn(hook, 'name'), path.child('name')),
    ...objectsIn(hook, 'rules').flatMap((rule, index) => validateMatchRule(rule, path.child('rules').index(index))),
    ...allowOneOf(hook['failurePolicy'], path.child('failurePolicy'), failurePolicies),
    ...allowOneOf(hook['matchPolicy'], path.child('matchPolicy'), matchPolicies),
    ...validateSideEffects(hook, path.child('sideEffects')),
    ...(timeout >= 1 && timeout <= 30
      ? []
      : [
          fieldError.invalid(
            path.child('timeoutSeconds'),
            timeout,
            'the timeout value must be between 1 and 30 seconds',
          ),
        ]),
    ...validateSelectorIn(hook, 'namespaceSelector', path),
    ...validateSelectorIn(hook, 'objectSelector', path),
    ...allowOneOf(hook['reinvocationPolicy'], path.child('reinvocationPolicy'), reinvocationPolicies),
    ...validateClientConfig(objectIn(hook, 'clientConfig'), path.child('clientConfig')),
    ...validateMatchConditions(objectsIn(hook, 'matchConditions'), path.child('matchConditions')),
  ]
}

function validateHookName(name: string, path: FieldPath): FieldError[] {
  if (name === '') return [fieldError.required(path)]
  const complaints = checkDnsSubdomain(name)
  if (complaints.length > 0) return [fieldError.invalid(path, name, complaints.join(','))]
  if (name.split('.').length >= 3) return []
  return [fieldError.invalid(path, name, 'should be a domain with at least three segments separated by dots')]
}

function validateSideEffects(hook: JsonObject, path: FieldPath): FieldError[] {
  if (hook['sideEffects'] === undefined)
    return [fieldError.required(path, `must specify one of ${sideEffects.join(', ')}`)]
  return requireOneOf(textIn(hook, 'sideEffects'), path, sideEffects)
}

function validateVersions(versions: readonly string[], path: FieldPath): FieldError[] {
  if (versions.length === 0) return [fieldError.required(path, `must specify one of ${reviewVersions.join(', ')}`)]
  const errors = versions.flatMap((version, index) => {
    if (versions.indexOf(version) < index) return [fieldError.invalid(path.index(index), version, 'duplicate version')]
    return refuse(version, path.index(index), checkDns1035Label(version))
  })
  if (versions.some((version) => reviewVersions.includes(version))) return errors
  return [...errors, fieldError.invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`)]
}
