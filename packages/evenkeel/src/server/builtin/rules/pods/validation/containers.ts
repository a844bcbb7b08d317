/**
 * Containers of a pod: names, images, ports, mounts, resources, and which sort may have probes.
 */
import { checkDnsLabel, fieldError } from '#api'
import type { FieldError, FieldPath, JsonObject } from '#api'
import { checkPortName, refuse, requireChoice, requirePort } from '../../checks.ts'
import { numberIn, objectIn, objectsIn, textIn } from '../../reading.ts'
import { validateEnvironment } from './environment.ts'
import { validateProbesAndLifecycle } from './probes.ts'
import { validateContainerResources } from './resources.ts'
import { validateMounts } from './volumes.ts'

interface ContainerOptions {
  /** Names of the volumes that can be mounted. */
  readonly volumes: ReadonlySet<string>
  readonly path: FieldPath
}

const lifeFields = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']

/** All containers of a pod spec; names are unique among all sorts. */
export function validateContainers(spec: JsonObject, { volumes, path }: ContainerOptions): FieldError[] {
  const [containers, graceSeconds] = [
    objectsIn(spec, 'containers'),
    numberIn(spec, 'terminationGracePeriodSeconds') ?? 0,
  ]
  const names = new Set<string>()
  if (containers.length === 0) return [fieldError.required(path.child('containers'))]
  const main = containers.flatMap((container, index) => {
    const here = path.child('containers').index(index)
    return [
      ...validateContainer(container, { path: here, volumes }),
      ...validateUnique(container, here, names),
      ...validateProbesAndLifecycle(container, here, { graceSeconds }),
    ]
  })
  const initial = objectsIn(spec, 'initContainers').flatMap((container, index) => {
    const here = path.child('initContainers').index(index)
    return [
      ...validateContainer(container, { path: here, volumes }),
      ...validateUnique(container, here, names),
      ...validateInitial(container, here, { graceSeconds }),
    ]
  })
  const ephemeral = objectsIn(spec, 'ephemeralContainers').flatMap((container, index) => {
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

/** A container that runs before the others has no life to watch, unless it keeps running beside them. */
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
  return ports.flatMap((port, index) => {
    const [here, name] = [path.index(index), textIn(port, 'name')]
    const errors = name === '' ? [] : refuse(name, here.child('name'), checkPortName(name))
    if (errors.length === 0 && name !== '' && seen.has(name))
      errors.push(fieldError.duplicate(here.child('name'), name))
    seen.add(name)
    const [inside, outside] = [numberIn(port, 'containerPort') ?? 0, numberIn(port, 'hostPort') ?? 0]
    errors.push(
      ...(inside === 0
        ? [fieldError.required(here.child('containerPort'))]
        : requirePort(inside, here.child('containerPort'))),
    )
    if (outside !== 0) errors.push(...requirePort(outside, here.child('hostPort')))
    return [...errors, ...requireChoice(textIn(port, 'protocol'), here.child('protocol'), ['SCTP', 'TCP', 'UDP'])]
  })
}

function validateHostPorts(containers: readonly JsonObject[], path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  return containers.flatMap((container, index) =>
    objectsIn(container, 'ports').flatMap((port, at) => {
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
