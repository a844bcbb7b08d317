/**
 * ValidatingWebhookConfigurations and MutatingWebhookConfigurations.
 */
import {
  errorsOfEach,
  checkDns1035Label,
  checkDnsSubdomain,
  fieldError,
  FieldPath,
  numberIn,
  objectIn,
  objectsIn,
  optionalObjectIn,
  textIn,
  textsIn,
  type FieldError,
  type JsonObject,
  type JsonObjectDraft,
} from 'evenkeel/unstable/builtins'
import { draftIn, draftsIn, setDefault } from '../defaulting.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { repeatedAt, allowOneOf, isPort, refuse, requireOneOf, requireText, validateSelectorIn } from '../validation.ts'
import { loadExpressionLanguage } from './expressions.ts'
import { defaultMatchRules, matchPolicies, validateMatchConditions, validateMatchRule } from './match.ts'

// The client config of a webhook: either a URL or a Service reference.

const form = '; desired format: https://host[/path]'

export function validateClientConfig(config: JsonObject, path: FieldPath): FieldError[] {
  const [url, service] = [config['url'], optionalObjectIn(config, 'service')]
  if ((url === undefined) === (service === undefined))
    return [fieldError.required(path, 'exactly one of url or service is required')]
  return service === undefined
    ? validateUrl(String(url), path.child('url'))
    : validateService(service, path.child('service'))
}

function validateUrl(url: string, path: FieldPath): FieldError[] {
  const match = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/.exec(url)
  const [, scheme = '', authority = '', query = '', fragment = ''] = match ?? []
  const at = authority.lastIndexOf('@')
  const [user, host] = [authority.slice(0, Math.max(at, 0)), authority.slice(at + 1)]
  const errors: FieldError[] = []
  if (scheme.toLowerCase() !== 'https')
    errors.push(fieldError.invalid(path, scheme, `'https' is the only allowed URL scheme${form}`))
  if (host === '') errors.push(fieldError.invalid(path, host, `host must be specified${form}`))
  if (at >= 0) errors.push(fieldError.invalid(path, user, 'user information is not permitted in the URL'))
  if (fragment !== '') errors.push(fieldError.invalid(path, fragment, 'fragments are not permitted in the URL'))
  if (query !== '') errors.push(fieldError.invalid(path, query, 'query parameters are not permitted in the URL'))
  return errors
}

function validateService(service: JsonObject, path: FieldPath): FieldError[] {
  const port = numberIn(service, 'port') ?? 0
  const errors = [
    ...requireText(textIn(service, 'namespace'), path.child('name')),
    ...requireText(textIn(service, 'name'), path.child('namespace')),
  ]
  if (!isPort(port))
    errors.push(
      fieldError.invalid(path.child('port'), port, 'port is not valid: must be between 1 and 65535, inclusive'),
    )
  return [...errors, ...validatePath(textIn(service, 'path'), path.child('path'))]
}

function validatePath(urlPath: string, path: FieldPath): FieldError[] {
  if (urlPath === '' || urlPath === '/') return []
  if (urlPath === '//') return [fieldError.invalid(path, urlPath, 'segment[0] may not be empty')]
  const errors = urlPath.startsWith('/') ? [] : [fieldError.invalid(path, urlPath, "must start with a '/'")]
  const segments = urlPath.slice(1).replace(/\/$/, '').split('/')
  return [
    ...errors,
    ...errorsOfEach(segments, (segment, index) => {
      if (segment === '') return [fieldError.invalid(path, urlPath, `segment[${index}] may not be empty`)]
      return checkDnsSubdomain(segment).map((complaint) =>
        fieldError.invalid(path, urlPath, `segment[${index}]: ${complaint}`),
      )
    }),
  ]
}

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
  return errorsOfEach(hooks, (hook, index) => {
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
    ...errorsOfEach(objectsIn(hook, 'rules'), (rule, index) =>
      validateMatchRule(rule, path.child('rules').index(index)),
    ),
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
  const repeated = repeatedAt(versions)
  const errors = errorsOfEach(versions, (version, index) => {
    if (repeated.has(index)) return [fieldError.invalid(path.index(index), version, 'duplicate version')]
    return refuse(version, path.index(index), checkDns1035Label(version))
  })
  if (versions.some((version) => reviewVersions.includes(version))) return errors
  return [...errors, fieldError.invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`)]
}
