/**
 * APIServices: the name is version and group, priorities are limited, and a local one has no CA bundle.
 */
import {
  errorsOfEach,
  pushAll,
  checkDns1035Label,
  checkDnsSubdomain,
  checkPathSegmentName,
  fieldError,
  FieldPath,
  isSet,
  numberIn,
  objectIn,
  optionalObjectIn,
  quote,
  textIn,
  type FieldError,
  type JsonObject,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { draftIn, setDefault } from '../defaulting.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { isPort, refuse, requireText } from '../validation.ts'

const specPath = FieldPath.of('spec')

export const apiServiceStrategy: StrategyHooks = {
  default(object) {
    const spec = draftIn(object, 'spec')
    const service = spec && draftIn(spec, 'service')
    if (service !== undefined) setDefault(service, 'port', 443)
  },
  validate(object) {
    const spec = objectIn(object, 'spec')
    return [
      ...validateName(object, spec),
      ...validateVersion(spec),
      ...validatePriorities(spec),
      ...validateTarget(spec),
    ]
  },
}

function validateName(object: UnstructuredObject, spec: JsonObject): FieldError[] {
  const name = object.metadata.name ?? ''
  const required = `${textIn(spec, 'version')}.${textIn(spec, 'group')}`
  if (name === required || checkPathSegmentName(name).length > 0) return []
  return [
    fieldError.invalid(
      FieldPath.of('metadata', 'name'),
      name,
      `must be \`spec.version+"."+spec.group\`: ${quote(required)}`,
    ),
  ]
}

function validateVersion(spec: JsonObject): FieldError[] {
  const [group, version] = [textIn(spec, 'group'), textIn(spec, 'version')]
  const errors =
    group === '' && version !== 'v1'
      ? [fieldError.required(specPath.child('group'), 'only v1 may have an empty group and it better be legacy kube')]
      : []
  if (group !== '') pushAll(errors, refuse(group, specPath.child('group'), checkDnsSubdomain(group)))
  return [...errors, ...refuse(version, specPath.child('version'), checkDns1035Label(version))]
}

function validatePriorities(spec: JsonObject): FieldError[] {
  const [minimum, priority] = [numberIn(spec, 'groupPriorityMinimum') ?? 0, numberIn(spec, 'versionPriority') ?? 0]
  const errors: FieldError[] = []
  if (minimum <= 0 || minimum > 20_000) {
    errors.push(
      fieldError.invalid(specPath.child('groupPriorityMinimum'), minimum, 'must be positive and less than 20000'),
    )
  }
  if (priority <= 0 || priority > 1000) {
    errors.push(fieldError.invalid(specPath.child('versionPriority'), priority, 'must be positive and less than 1000'))
  }
  return errors
}

function validateTarget(spec: JsonObject): FieldError[] {
  const [service, bundle, insecure] = [
    optionalObjectIn(spec, 'service'),
    textIn(spec, 'caBundle'),
    isSet(spec, 'insecureSkipTLSVerify'),
  ]
  const [bundlePath, insecurePath] = [specPath.child('caBundle'), specPath.child('insecureSkipTLSVerify')]
  const errors: FieldError[] = []
  if (service === undefined) {
    const bytes = Buffer.from(bundle, 'base64').length
    if (bytes > 0)
      errors.push(fieldError.invalid(bundlePath, `${bytes} bytes`, 'local APIServices may not have a caBundle'))
    if (insecure)
      errors.push(fieldError.invalid(insecurePath, true, 'local APIServices may not have insecureSkipTLSVerify'))
    return errors
  }
  const [path, port] = [specPath.child('service'), numberIn(service, 'port') ?? 0]
  pushAll(
    errors,
    errorsOfEach(['namespace', 'name'], (key) => requireText(textIn(service, key), path.child(key))),
  )
  if (!isPort(port))
    errors.push(
      fieldError.invalid(path.child('port'), port, 'port is not valid: must be between 1 and 65535, inclusive'),
    )
  if (insecure && bundle !== '')
    errors.push(fieldError.invalid(insecurePath, true, 'may not be true if caBundle is present'))
  return errors
}
