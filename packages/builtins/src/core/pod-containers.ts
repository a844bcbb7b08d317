/**
 * Containers of a Pod: names, images, ports, mounts, environment and resources, and which kinds may have probes.
 */
import {
  errorsOfEach,
  pushAll,
  checkDnsLabel,
  checkDnsSubdomain,
  compareQuantities,
  fieldError,
  formatQuantity,
  numberIn,
  objectIn,
  objectsIn,
  optionalObjectIn,
  textIn,
  type FieldError,
  type FieldPath,
  type JsonObject,
} from 'evenkeel/unstable/builtins'
import {
  isHugePages,
  mayOvercommit,
  quantityFrom,
  validateContainerResourceName,
  validateQuantity,
} from '../resource-quantities.ts'
import {
  checkPortName,
  refuse,
  requireChoice,
  requireOneOf,
  requirePort,
  requireQualifiedName,
  requireText,
} from '../validation.ts'
import { checkDataKey } from './config-map.ts'
import { validateProbesAndLifecycle } from './pod-probes.ts'
import { validateMounts } from './pod-volumes.ts'

interface ContainerOptions {
  /** The names of the volumes of the Pod. */
  readonly volumes: ReadonlySet<string>
  readonly path: FieldPath
}

const lifeFields = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']

/** All containers of a Pod spec; names are unique among all kinds of containers. */
export function validateContainers(spec: JsonObject, { volumes, path }: ContainerOptions): FieldError[] {
  const [containers, graceSeconds] = [
    objectsIn(spec, 'containers'),
    numberIn(spec, 'terminationGracePeriodSeconds') ?? 0,
  ]
  const names = new Set<string>()
  if (containers.length === 0) return [fieldError.required(path.child('containers'))]
  const main = errorsOfEach(containers, (container, index) => {
    const here = path.child('containers').index(index)
    return [
      ...validateContainer(container, { path: here, volumes }),
      ...validateUnique(container, here, names),
      ...validateProbesAndLifecycle(container, here, { graceSeconds }),
    ]
  })
  const initial = errorsOfEach(objectsIn(spec, 'initContainers'), (container, index) => {
    const here = path.child('initContainers').index(index)
    return [
      ...validateContainer(container, { path: here, volumes }),
      ...validateUnique(container, here, names),
      ...validateInitial(container, here, { graceSeconds }),
    ]
  })
  const ephemeral = errorsOfEach(objectsIn(spec, 'ephemeralContainers'), (container, index) => {
    const here = path.child('ephemeralContainers').index(index)
    return [...validateContainer(container, { path: here, volumes }), ...validateUnique(container, here, names)]
  })
  return [...main, ...validateHostPorts(containers, path.child('containers')), ...initial, ...ephemeral]
}

function validateContainer(container: JsonObject, { path, volumes }: ContainerOptions): FieldError[] {
  const name = textIn(container, 'name')
  return [
    ...(name === ''
      ? [fieldError.required(path.child('name'))]
      : refuse(name, path.child('name'), checkDnsLabel(name))),
    ...(textIn(container, 'image') === '' ? [fieldError.required(path.child('image'))] : []),
    ...requireChoice(textIn(container, 'terminationMessagePolicy'), path.child('terminationMessagePolicy'), [
      'File',
      'FallbackToLogsOnError',
    ]),
    ...validatePorts(objectsIn(container, 'ports'), path.child('ports')),
    ...validateEnvironment(container, path),
    ...validateMounts(container, path, volumes),
    ...requireChoice(textIn(container, 'imagePullPolicy'), path.child('imagePullPolicy'), [
      'Always',
      'IfNotPresent',
      'Never',
    ]),
    ...validateContainerResources(objectIn(container, 'resources'), path.child('resources')),
  ]
}

function validateUnique(container: JsonObject, path: FieldPath, names: Set<string>): FieldError[] {
  const name = textIn(container, 'name')
  const repeated = names.has(name)
  names.add(name)
  return repeated ? [fieldError.duplicate(path.child('name'), name)] : []
}

/** An init container has no probes and hooks, unless it is a sidecar. */
function validateInitial(container: JsonObject, path: FieldPath, options: { graceSeconds: number }): FieldError[] {
  if (container['restartPolicy'] === 'Always') return validateProbesAndLifecycle(container, path, options)
  return lifeFields
    .filter((key) => container[key] !== undefined)
    .map((key) =>
      fieldError.forbidden(path.child(key), 'may not be set for init containers without restartPolicy=Always'),
    )
}

function validatePorts(ports: readonly JsonObject[], path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  return errorsOfEach(ports, (port, index) => {
    const [here, name] = [path.index(index), textIn(port, 'name')]
    const errors = name === '' ? [] : refuse(name, here.child('name'), checkPortName(name))
    if (errors.length === 0 && name !== '' && seen.has(name))
      errors.push(fieldError.duplicate(here.child('name'), name))
    seen.add(name)
    const [inside, outside] = [numberIn(port, 'containerPort') ?? 0, numberIn(port, 'hostPort') ?? 0]
    pushAll(
      errors,
      inside === 0
        ? [fieldError.required(here.child('containerPort'))]
        : requirePort(inside, here.child('containerPort')),
    )
    if (outside !== 0) pushAll(errors, requirePort(outside, here.child('hostPort')))
    return [...errors, ...requireChoice(textIn(port, 'protocol'), here.child('protocol'), ['SCTP', 'TCP', 'UDP'])]
  })
}

function validateHostPorts(containers: readonly JsonObject[], path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  return errorsOfEach(containers, (container, index) =>
    errorsOfEach(objectsIn(container, 'ports'), (port, at) => {
      const hostPort = numberIn(port, 'hostPort') ?? 0
      if (hostPort === 0) return []
      const identity = `${textIn(port, 'protocol')}/${textIn(port, 'hostIP')}/${hostPort}`
      const repeated = seen.has(identity)
      seen.add(identity)
      return repeated
        ? [fieldError.duplicate(path.index(index).child('ports').index(at).child('hostPort'), identity)]
        : []
    }),
  )
}

// Environment variables of containers: printable names, and one source for each value.

const sources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef']
const podFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
/** Existing fields that are not supported in an environment get another message than unknown ones. */
const otherFields = [
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]
const subscripted = /^(metadata\.(?:annotations|labels))\['(.*)'\]$/

function validateEnvironment(container: JsonObject, path: FieldPath): FieldError[] {
  return [
    ...errorsOfEach(objectsIn(container, 'env'), (variable, index) =>
      validateVariable(variable, path.child('env').index(index)),
    ),
    ...errorsOfEach(objectsIn(container, 'envFrom'), (source, index) =>
      validateBulk(source, path.child('envFrom'), index),
    ),
  ]
}

function validateVariable(variable: JsonObject, path: FieldPath): FieldError[] {
  const name = textIn(variable, 'name')
  const errors =
    name === '' ? [fieldError.required(path.child('name'))] : refuse(name, path.child('name'), checkVariableName(name))
  const from = optionalObjectIn(variable, 'valueFrom')
  return from === undefined
    ? errors
    : [...errors, ...validateSource(from, path.child('valueFrom'), { hasValue: textIn(variable, 'value') !== '' })]
}

function checkVariableName(name: string): string[] {
  return /^[ -<>-~]+$/.test(name)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"]
}

function validateSource(from: JsonObject, path: FieldPath, { hasValue }: { hasValue: boolean }): FieldError[] {
  const used = sources.filter((key) => optionalObjectIn(from, key) !== undefined)
  const errors = errorsOfEach(used, (key) => validateReference(key, objectIn(from, key), path.child(key)))
  if (used.length === 0) {
    const detail =
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
    return [...errors, fieldError.invalid(path, '', detail)]
  }
  if (hasValue) return [...errors, fieldError.invalid(path, '', 'may not be specified when `value` is not empty')]
  return used.length > 1
    ? [...errors, fieldError.invalid(path, '', 'may not have more than one field specified at a time')]
    : errors
}

function validateReference(type: string, reference: JsonObject, path: FieldPath): FieldError[] {
  switch (type) {
    case 'fieldRef':
      return validateFieldReference(reference, path)
    case 'configMapKeyRef':
    case 'secretKeyRef': {
      const [name, key] = [textIn(reference, 'name'), textIn(reference, 'key')]
      const errors = refuse(name, path.child('name'), checkDnsSubdomain(name))
      return [
        ...errors,
        ...(key === '' ? [fieldError.required(path.child('key'))] : refuse(key, path.child('key'), checkDataKey(key))),
      ]
    }
    case 'resourceFieldRef':
      return requireText(textIn(reference, 'resource'), path.child('resource'))
    default:
      return []
  }
}

function validateFieldReference(reference: JsonObject, path: FieldPath): FieldError[] {
  const field = textIn(reference, 'fieldPath')
  if (field === '') return [fieldError.required(path.child('fieldPath'))]
  const [, map, key = ''] = subscripted.exec(field) ?? []
  if (map !== undefined) return requireQualifiedName(map === 'metadata.annotations' ? key.toLowerCase() : key, path)
  if (podFields.includes(field)) return []
  if (otherFields.includes(field)) return requireOneOf(field, path.child('fieldPath'), podFields)
  const complaint = field.endsWith("']") ? 'field label does not support subscript' : 'field label not supported'
  return [fieldError.invalid(path.child('fieldPath'), field, `error converting fieldPath: ${complaint}: ${field}`)]
}

function validateBulk(source: JsonObject, path: FieldPath, index: number): FieldError[] {
  const [prefix, here] = [textIn(source, 'prefix'), path.index(index)]
  const errors = prefix === '' ? [] : refuse(prefix, here.child('prefix'), checkVariableName(prefix))
  const used = ['configMapRef', 'secretRef'].filter((key) => optionalObjectIn(source, key) !== undefined)
  for (const key of used) {
    const name = textIn(objectIn(source, key), 'name')
    pushAll(
      errors,
      name === ''
        ? [fieldError.required(here.child(key, 'name'))]
        : refuse(name, here.child(key, 'name'), checkDnsSubdomain(name)),
    )
  }
  if (used.length === 0) errors.push(fieldError.invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'))
  if (used.length > 1) errors.push(fieldError.invalid(path, '', 'may not have more than one field specified at a time'))
  return errors
}

// Requests and limits of a container: valid names, integers where required, no request above its limit.

function validateContainerResources(resources: JsonObject, path: FieldPath): FieldError[] {
  const [limits, requests] = [objectIn(resources, 'limits'), objectIn(resources, 'requests')]
  const names = [...Object.keys(limits), ...Object.keys(requests)]
  const errors = [
    ...validateNames(limits, path.child('limits')),
    ...validateNames(requests, path.child('requests')),
    ...validateAgainstLimits(requests, limits, path),
  ]
  if (names.some(isHugePages) && !names.some((name) => name === 'cpu' || name === 'memory')) {
    errors.push(fieldError.forbidden(path, 'HugePages require cpu or memory'))
  }
  return errors
}

function validateNames(amounts: JsonObject, path: FieldPath): FieldError[] {
  return errorsOfEach(Object.entries(amounts), ([name, value]) => [
    ...validateContainerResourceName(name, path.key(name)),
    ...validateQuantity(name, value, path.key(name)),
  ])
}

function validateAgainstLimits(requests: JsonObject, limits: JsonObject, path: FieldPath): FieldError[] {
  return errorsOfEach(Object.entries(requests), ([name, value]) => {
    const [request, limit] = [quantityFrom(value), Object.hasOwn(limits, name) ? quantityFrom(limits[name]) : undefined]
    if (request === undefined) return []
    if (limit === undefined) {
      return mayOvercommit(name)
        ? []
        : [fieldError.required(path.child('limits'), 'Limit must be set for non overcommitable resources')]
    }
    const order = compareQuantities(request, limit)
    if (order === 0 || (order < 0 && mayOvercommit(name))) return []
    const relation = mayOvercommit(name) ? 'less than or equal to' : 'equal to'
    return [
      fieldError.invalid(
        path.child('requests'),
        formatQuantity(request),
        `must be ${relation} ${name} limit of ${formatQuantity(limit)}`,
      ),
    ]
  })
}
