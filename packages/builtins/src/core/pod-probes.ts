/**
 * Probes and lifecycle hooks of containers: exactly one action each, and valid numbers.
 */
import {
  errorsOfEach,
  pushAll,
  fieldError,
  numberIn,
  objectIn,
  objectsIn,
  optionalObjectIn,
  textIn,
  textsIn,
  type FieldError,
  type FieldPath,
  type JsonObject,
} from 'evenkeel/unstable/builtins'
import { requireNonNegative, requireOneOf, requirePort, requirePortOrName, requireText } from '../validation.ts'

const actions = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep']
const counts = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold']
const headerName = /^[-A-Za-z0-9]+$/
const headerComplaint =
  "a valid HTTP header must consist of alphanumeric characters or '-' " +
  "(e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"

/** Validates the probes and hooks of a container that may have them. */
export function validateProbesAndLifecycle(
  container: JsonObject,
  path: FieldPath,
  { graceSeconds }: { graceSeconds: number },
): FieldError[] {
  const lifecycle = objectIn(container, 'lifecycle')
  return [
    ...errorsOfEach(['postStart', 'preStop'], (key) => {
      const handler = optionalObjectIn(lifecycle, key)
      return handler === undefined ? [] : validateAction(handler, path.child('lifecycle', key), { graceSeconds })
    }),
    ...errorsOfEach(['livenessProbe', 'readinessProbe', 'startupProbe'], (key) => {
      const probe = optionalObjectIn(container, key)
      return probe === undefined ? [] : validateProbe(probe, path.child(key), { key, graceSeconds })
    }),
  ]
}

function validateProbe(
  probe: JsonObject,
  path: FieldPath,
  { key, graceSeconds }: { key: string; graceSeconds: number },
): FieldError[] {
  const [grace, gracePath] = [
    numberIn(probe, 'terminationGracePeriodSeconds'),
    path.child('terminationGracePeriodSeconds'),
  ]
  const errors = validateAction(probe, path, { graceSeconds })
  pushAll(
    errors,
    errorsOfEach(counts, (count) => requireNonNegative(numberIn(probe, count), path.child(count))),
  )
  if (grace !== undefined && grace <= 0) errors.push(fieldError.invalid(gracePath, grace, 'must be greater than 0'))
  if (key === 'readinessProbe') {
    return grace === undefined
      ? errors
      : [...errors, fieldError.invalid(gracePath, grace, 'must not be set for readinessProbes')]
  }
  const successes = numberIn(probe, 'successThreshold') ?? 0
  return successes === 1
    ? errors
    : [...errors, fieldError.invalid(path.child('successThreshold'), successes, 'must be 1')]
}

function validateAction(
  handler: JsonObject,
  path: FieldPath,
  { graceSeconds }: { graceSeconds: number },
): FieldError[] {
  const [first, ...others] = actions.filter((key) => optionalObjectIn(handler, key) !== undefined)
  if (first === undefined) return [fieldError.required(path, 'must specify a handler type')]
  return [
    ...validateOne(first, objectIn(handler, first), { path: path.child(first), graceSeconds }),
    ...others.map((key) => fieldError.forbidden(path.child(key), 'may not specify more than 1 handler type')),
  ]
}

function validateOne(
  type: string,
  action: JsonObject,
  { path, graceSeconds }: { path: FieldPath; graceSeconds: number },
): FieldError[] {
  switch (type) {
    case 'exec':
      return textsIn(action, 'command').length > 0 ? [] : [fieldError.required(path.child('command'))]
    case 'httpGet':
      return validateHttp(action, path)
    case 'grpc':
      return requirePort(numberIn(action, 'port'), path.child('port'))
    case 'sleep':
      return validateSleep(numberIn(action, 'seconds') ?? 0, path, graceSeconds)
    default:
      return requirePortOrName(action['port'], path.child('port'))
  }
}

function validateHttp(action: JsonObject, path: FieldPath): FieldError[] {
  return [
    ...requireText(textIn(action, 'path'), path.child('path')),
    ...requirePortOrName(action['port'], path.child('port')),
    ...requireOneOf(textIn(action, 'scheme'), path.child('scheme'), ['HTTP', 'HTTPS']),
    ...objectsIn(action, 'httpHeaders')
      .map((header) => textIn(header, 'name'))
      .filter((name) => !headerName.test(name))
      .map((name) => fieldError.invalid(path.child('httpHeaders'), name, headerComplaint)),
  ]
}

function validateSleep(seconds: number, path: FieldPath, graceSeconds: number): FieldError[] {
  if (seconds >= 0 && seconds <= graceSeconds) return []
  return [
    fieldError.invalid(
      path,
      seconds,
      `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`,
    ),
  ]
}
