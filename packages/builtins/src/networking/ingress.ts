/**
 * Ingresses and IngressClasses: rules that route hosts and paths to backends.
 */
import {
  errorsOfEach,
  pushAll,
  checkDnsLabel,
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
} from 'evenkeel/unstable/builtins'
import { draftIn, setDefault } from '../defaulting.ts'
import { familyOf } from '../ip-addresses.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { checkPortName, refuse, requirePort, requireText } from '../validation.ts'

const specPath = FieldPath.of('spec')
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']
const forbiddenParts = ['//', '/./', '/../', '%2f', '%2F']
const forbiddenEnds = ['/..', '/.']

export const ingressClassStrategy: StrategyHooks = {
  default(object) {
    const spec = draftIn(object, 'spec')
    const parameters = spec && draftIn(spec, 'parameters')
    if (parameters !== undefined) setDefault(parameters, 'scope', 'Cluster')
  },
  validate(object) {
    const controller = textIn(objectIn(object, 'spec'), 'controller')
    return requireText(controller, specPath.child('controller'))
  },
}

export const ingressStrategy: StrategyHooks = {
  prepareForCreate(object) {
    object['status'] = { loadBalancer: {} }
  },
  validate: (object) => validateSpec(objectIn(object, 'spec')),
}

function validateSpec(spec: JsonObject): FieldError[] {
  const [rules, backend, className] = [
    objectsIn(spec, 'rules'),
    optionalObjectIn(spec, 'defaultBackend'),
    spec['ingressClassName'],
  ]
  const errors: FieldError[] = []
  if (rules.length === 0 && backend === undefined) {
    errors.push(fieldError.invalid(specPath, spec['rules'], 'either `defaultBackend` or `rules` must be specified'))
  }
  if (backend !== undefined) pushAll(errors, validateBackend(backend, specPath.child('defaultBackend')))
  rules.forEach((rule, index) => pushAll(errors, validateRule(rule, specPath.child('rules').index(index))))
  objectsIn(spec, 'tls').forEach((tls, index) => pushAll(errors, validateTls(tls, specPath.child('tls').index(index))))
  return typeof className === 'string'
    ? [...errors, ...refuse(className, specPath.child('ingressClassName'), checkDnsSubdomain(className))]
    : errors
}

function validateRule(rule: JsonObject, path: FieldPath): FieldError[] {
  const [host, http] = [textIn(rule, 'host'), optionalObjectIn(rule, 'http')]
  const errors =
    familyOf(host) === undefined
      ? []
      : [fieldError.invalid(path.child('host'), host, 'must be a DNS name, not an IP address')]
  if (host !== '') pushAll(errors, refuse(host, path.child('host'), checkHost(host)))
  if (http === undefined) return errors
  const [paths, here] = [objectsIn(http, 'paths'), path.child('http', 'paths')]
  if (paths.length === 0) errors.push(fieldError.required(here))
  return [...errors, ...errorsOfEach(paths, (each, index) => validatePath(each, here.index(index)))]
}

function checkHost(host: string): string[] {
  if (!host.includes('*')) return checkDnsSubdomain(host)
  if (host.startsWith('*.') && checkDnsSubdomain(host.slice(2)).length === 0) return []
  const pattern = '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'
  return [
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric " +
      `characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '${pattern}')`,
  ]
}

function validatePath(each: JsonObject, path: FieldPath): FieldError[] {
  const [type, text, here] = [textIn(each, 'pathType'), textIn(each, 'path'), path.child('path')]
  if (type === '') return [fieldError.required(path.child('pathType'), 'pathType must be specified')]
  const errors: FieldError[] = []
  if (!pathTypes.includes(type)) errors.push(fieldError.notSupported(path.child('pathType'), type, pathTypes))
  else if (!text.startsWith('/') && (type !== 'ImplementationSpecific' || text !== '')) {
    errors.push(fieldError.invalid(here, text, 'must be an absolute path'))
  }
  if (type === 'Exact' || type === 'Prefix') {
    for (const part of forbiddenParts)
      if (text.includes(part)) errors.push(fieldError.invalid(here, text, `must not contain '${part}'`))
    for (const end of forbiddenEnds)
      if (text.endsWith(end)) errors.push(fieldError.invalid(here, text, `cannot end with '${end}'`))
  }
  return [...errors, ...validateBackend(objectIn(each, 'backend'), path.child('backend'))]
}

function validateBackend(backend: JsonObject, path: FieldPath): FieldError[] {
  const [resource, service] = [optionalObjectIn(backend, 'resource'), optionalObjectIn(backend, 'service')]
  if (resource !== undefined && service !== undefined)
    return [fieldError.invalid(path, '', 'cannot set both resource and service backends')]
  if (resource !== undefined)
    return errorsOfEach(['kind', 'name'], (key) => requireText(textIn(resource, key), path.child('resource', key)))
  return service === undefined
    ? [fieldError.invalid(path, '', 'resource or service backend is required')]
    : validateService(service, path)
}

function validateService(service: JsonObject, path: FieldPath): FieldError[] {
  const [name, port] = [textIn(service, 'name'), objectIn(service, 'port')]
  const namePath = path.child('service', 'name')
  const errors = name === '' ? [fieldError.required(namePath)] : refuse(name, namePath, checkDnsLabel(name))
  const [portName, number] = [textIn(port, 'name'), numberIn(port, 'number') ?? 0]
  if (portName !== '' && number !== 0)
    errors.push(fieldError.invalid(path, '', 'cannot set both port name & port number'))
  else if (portName !== '')
    pushAll(errors, refuse(portName, path.child('service', 'port', 'name'), checkPortName(portName)))
  else if (number !== 0) pushAll(errors, requirePort(number, path.child('service', 'port', 'number')))
  else errors.push(fieldError.required(path, 'port name or number is required'))
  return errors
}

function validateTls(tls: JsonObject, path: FieldPath): FieldError[] {
  const [hosts, secret] = [textsIn(tls, 'hosts'), textIn(tls, 'secretName')]
  const errors = errorsOfEach(hosts, (host, index) => refuse(host, path.child('hosts').index(index), checkHost(host)))
  return secret === '' ? errors : [...errors, ...refuse(secret, path.child('secretName'), checkDnsSubdomain(secret))]
}
