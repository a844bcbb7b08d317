/**
 * The spec of a Pod or Pod template: its parts, and the fields that controllers and schedulers read.
 *
 * Affinity, topology spread, security contexts, DNS configuration and operating system are validated by the
 * schema only.
 */
import {
  errorsOfEach,
  pushAll,
  checkDnsLabel,
  checkDnsSubdomain,
  checkLabelValue,
  fieldError,
  isSet,
  numberIn,
  objectIn,
  objectsIn,
  textIn,
  textMapIn,
  textsIn,
  validateAnnotations,
  validateLabels,
  type FieldError,
  type FieldPath,
  type JsonObject,
} from 'evenkeel/unstable/builtins'
import { validateAddress } from '../ip-addresses.ts'
import { repeatedAt, allowOneOf, refuse, requireChoice, requireOneOf, requireQualifiedName } from '../validation.ts'
import { validateContainers } from './pod-containers.ts'
import { validateVolumes } from './pod-volumes.ts'

const secondsMax = 2_147_483_647
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** Names that are names of objects, and names that become part of a host name. */
const names: readonly (readonly [field: string, check: (name: string) => string[]])[] = [
  ['serviceAccountName', checkDnsSubdomain],
  ['nodeName', checkDnsSubdomain],
  ['hostname', checkDnsLabel],
  ['subdomain', checkDnsLabel],
  ['priorityClassName', checkDnsSubdomain],
  ['runtimeClassName', checkDnsSubdomain],
]

export function validatePodSpec(spec: JsonObject, path: FieldPath, { pod = '' }: { pod?: string } = {}): FieldError[] {
  const { names: volumes, errors } = validateVolumes(objectsIn(spec, 'volumes'), path.child('volumes'))
  return [
    ...errors,
    ...validateClaims(spec, path, pod),
    ...validateContainers(spec, { volumes, path }),
    ...(isSet(spec, 'hostNetwork') ? validateHostNetwork(spec, path) : []),
    ...requireChoice(textIn(spec, 'restartPolicy'), path.child('restartPolicy'), ['Always', 'OnFailure', 'Never']),
    ...requireChoice(textIn(spec, 'dnsPolicy'), path.child('dnsPolicy'), [
      'ClusterFirstWithHostNet',
      'ClusterFirst',
      'Default',
      'None',
    ]),
    ...validateLabels(textMapIn(spec, 'nodeSelector'), path.child('nodeSelector')),
    ...validateGates(objectsIn(spec, 'schedulingGates'), path.child('schedulingGates')),
    ...errorsOfEach(objectsIn(spec, 'readinessGates'), (gate, index) =>
      requireQualifiedName(
        textIn(gate, 'conditionType'),
        path.child('readinessGates').index(index).child('conditionType'),
      ),
    ),
    ...errorsOfEach(names, ([field, check]) => validateName(textIn(spec, field), path.child(field), check)),
    ...validateDeadline(numberIn(spec, 'activeDeadlineSeconds'), path.child('activeDeadlineSeconds')),
    ...errorsOfEach(objectsIn(spec, 'tolerations'), (toleration, index) =>
      validateToleration(toleration, path.child('tolerations').index(index)),
    ),
    ...validateAliases(objectsIn(spec, 'hostAliases'), path.child('hostAliases')),
    ...allowOneOf(spec['preemptionPolicy'], path.child('preemptionPolicy'), ['PreemptLowerPriority', 'Never']),
  ]
}

/** A Pod template: labels, annotations and spec of its Pods. */
export function validateTemplate(template: JsonObject, path: FieldPath): FieldError[] {
  const [metadata, spec] = [objectIn(template, 'metadata'), objectIn(template, 'spec')]
  const errors = [
    ...validateLabels(textMapIn(metadata, 'labels'), path.child('labels')),
    ...validateAnnotations(textMapIn(metadata, 'annotations'), path.child('annotations')),
    ...validatePodSpec(spec, path.child('spec')),
  ]
  if (objectsIn(spec, 'ephemeralContainers').length === 0) return errors
  return [
    ...errors,
    fieldError.forbidden(path.child('spec', 'ephemeralContainers'), 'ephemeral containers not allowed in pod template'),
  ]
}

function validateName(name: string, path: FieldPath, check: (name: string) => string[]): FieldError[] {
  return name === '' ? [] : refuse(name, path, check(name))
}

/** The claim template of an ephemeral volume. */
function validateClaims(spec: JsonObject, path: FieldPath, pod: string): FieldError[] {
  const volumes = objectsIn(spec, 'volumes')
  const made = new Set(
    volumes.filter((volume) => volume['ephemeral'] !== undefined).map((volume) => `${pod}-${textIn(volume, 'name')}`),
  )
  return errorsOfEach(volumes, (volume, index) => {
    const claim = textIn(objectIn(volume, 'persistentVolumeClaim'), 'claimName')
    if (pod === '' || claim === '' || !made.has(claim)) return []
    const here = path.child('volumes').index(index).child('persistentVolumeClaim', 'claimName')
    return [fieldError.invalid(here, claim, 'must not reference a PVC that gets created for an ephemeral volume')]
  })
}

function validateHostNetwork(spec: JsonObject, path: FieldPath): FieldError[] {
  return errorsOfEach(objectsIn(spec, 'containers'), (container, index) =>
    errorsOfEach(objectsIn(container, 'ports'), (port, at) => {
      const [inside, outside] = [numberIn(port, 'containerPort') ?? 0, numberIn(port, 'hostPort') ?? 0]
      if (outside === inside || outside === 0) return []
      const here = path.child('containers').index(index).child('ports').index(at).child('hostPort')
      return [fieldError.invalid(here, outside, 'must match `containerPort` when `hostNetwork` is true')]
    }),
  )
}

function validateGates(gates: readonly JsonObject[], path: FieldPath): FieldError[] {
  const all = gates.map((gate) => textIn(gate, 'name'))
  const repeated = repeatedAt(all)
  return errorsOfEach(all, (name, index) => [
    ...requireQualifiedName(name, path.index(index)),
    ...(repeated.has(index) ? [fieldError.duplicate(path.index(index), name)] : []),
  ])
}

function validateDeadline(seconds: number | undefined, path: FieldPath): FieldError[] {
  if (seconds === undefined || (seconds >= 1 && seconds <= secondsMax)) return []
  return [fieldError.invalid(path, seconds, `must be between 1 and ${secondsMax}, inclusive`)]
}

function validateToleration(toleration: JsonObject, path: FieldPath): FieldError[] {
  const [key, operator, value, effect] = ['key', 'operator', 'value', 'effect'].map((field) =>
    textIn(toleration, field),
  ) as [string, string, string, string]
  const errors = key === '' ? [] : requireQualifiedName(key, path.child('key'))
  if (key === '' && operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
    errors.push(fieldError.invalid(path.child('operator'), operator, detail))
  }
  if (numberIn(toleration, 'tolerationSeconds') !== undefined && effect !== 'NoExecute') {
    errors.push(
      fieldError.invalid(path.child('effect'), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"),
    )
  }
  if (operator === '' || operator === 'Equal') {
    const complaints = checkLabelValue(value)
    if (complaints.length > 0) errors.push(fieldError.invalid(path.child('operator'), value, complaints.join(';')))
  } else if (operator === 'Exists') {
    if (value !== '')
      errors.push(fieldError.invalid(path.child('operator'), value, "value must be empty when `operator` is 'Exists'"))
  } else pushAll(errors, requireOneOf(operator, path.child('operator'), ['Equal', 'Exists']))
  return effect === '' ? errors : [...errors, ...requireOneOf(effect, path.child('effect'), effects)]
}

function validateAliases(aliases: readonly JsonObject[], path: FieldPath): FieldError[] {
  return errorsOfEach(aliases, (alias, index) => [
    ...validateAddress(textIn(alias, 'ip'), path.index(index).child('ip')),
    ...errorsOfEach(textsIn(alias, 'hostnames'), (name, at) =>
      refuse(name, path.index(index).child('hostnames').index(at), checkDnsSubdomain(name)),
    ),
  ])
}
