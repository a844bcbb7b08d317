/**
 * RuntimeClass: a pod with a `runtimeClassName` gets the overhead, the node selector and the tolerations of that class.
 * Without a class that has an overhead, a pod cannot have one.
 */
import {
  compareQuantities,
  deepEqual,
  numberIn,
  objectIn,
  objectsIn,
  optionalObjectIn,
  setOwn,
  textIn,
  type JsonObject,
  type UnstructuredObject,
} from '#api'
import { ensureDraft, quantityFrom, type ObjectDraft } from '@evenkeel/builtins'
import type { Informer, Informers } from '../../informers.ts'
import { admissionForbidden, type AdmissionAttributes, type AdmissionPlugin } from '../admission.ts'

const mismatch = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
const withoutClass = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'

export function runtimeClassPlugin({ informers }: { readonly informers: Informers }): AdmissionPlugin {
  const classes = informers.forResource('node.k8s.io', 'runtimeclasses')
  return {
    name: 'RuntimeClass',
    resources: new Set(['/pods']),
    handles: ({ operation, target }) => operation === 'CREATE' && target.subresource === undefined,
    mutate(draft, admitted) {
      const found = classOf(draft, classes, admitted)
      if (found) {
        setOverhead(draft, found, admitted)
        setScheduling(draft, found, admitted)
      }
      return false
    },
    validate(object, admitted) {
      if (object === undefined) return undefined
      const overhead = overheadOf(classOf(object, classes, admitted))
      const present = optionalObjectIn(objectIn(object, 'spec'), 'overhead')
      if (overhead === undefined && present !== undefined) throw admissionForbidden(admitted, object, withoutClass)
      if (overhead !== undefined && !sameAmounts(overhead, present ?? {}))
        throw admissionForbidden(admitted, object, mismatch)
      return undefined
    },
  }
}

/** @throws {ApiError} `Forbidden`, when there is no such class. */
function classOf(
  pod: UnstructuredObject,
  classes: Informer,
  admitted: AdmissionAttributes,
): UnstructuredObject | undefined {
  const name = objectIn(pod, 'spec')['runtimeClassName']
  if (typeof name !== 'string') return undefined
  const found = classes.get(name)
  if (found === undefined)
    throw admissionForbidden(admitted, pod, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`)
  return found
}

function overheadOf(found: UnstructuredObject | undefined): JsonObject | undefined {
  const overhead = optionalObjectIn(found, 'overhead')
  return overhead && objectIn(overhead, 'podFixed')
}

function setOverhead(pod: ObjectDraft, found: UnstructuredObject, admitted: AdmissionAttributes): void {
  const overhead = overheadOf(found)
  if (overhead === undefined) return
  const spec = ensureDraft(pod, 'spec')
  const present = objectIn(spec, 'overhead')
  if (Object.keys(present).length > 0 && !sameAmounts(overhead, present))
    throw admissionForbidden(admitted, pod, mismatch)
  spec['overhead'] = { ...overhead }
}

function sameAmounts(one: JsonObject, other: JsonObject): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => sameAmount(one[name], other[name]))
}

function sameAmount(one: unknown, other: unknown): boolean {
  const [a, b] = [quantityFrom(one), quantityFrom(other)]
  return a !== undefined && b !== undefined && compareQuantities(a, b) === 0
}

function setScheduling(pod: ObjectDraft, found: UnstructuredObject, admitted: AdmissionAttributes): void {
  const scheduling = optionalObjectIn(found, 'scheduling')
  if (scheduling === undefined) return
  const spec = ensureDraft(pod, 'spec')
  const wanted = objectIn(scheduling, 'nodeSelector')
  for (const key of Object.keys(wanted)) {
    const [theirs, own] = [textIn(wanted, key), objectIn(spec, 'nodeSelector')[key]]
    if (own !== undefined && own !== theirs)
      throw admissionForbidden(
        admitted,
        pod,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${theirs}; pod.spec.nodeSelector[${key}] = ${String(own)}`,
      )
    setOwn(ensureDraft(spec, 'nodeSelector'), key, theirs)
  }
  const tolerations = mergeTolerations([...objectsIn(spec, 'tolerations'), ...objectsIn(scheduling, 'tolerations')])
  if (tolerations.length > 0) spec['tolerations'] = tolerations
}

/** Leaves out every toleration that another one includes; of equal ones the first stays. */
function mergeTolerations(all: readonly JsonObject[]): JsonObject[] {
  const merged: JsonObject[] = []
  all.forEach((one, index) => {
    const isRedundant =
      merged.some((other) => includesToleration(other, one)) ||
      all.slice(index + 1).some((other) => !deepEqual(one, other) && includesToleration(other, one))
    if (!isRedundant) merged.push(one)
  })
  return merged
}

/** Whether one toleration tolerates everything that another does. */
function includesToleration(wide: JsonObject, narrow: JsonObject): boolean {
  if (deepEqual(wide, narrow)) return true
  const isAnyKey = textIn(wide, 'key') === '' && textIn(wide, 'operator') === 'Exists'
  if (textIn(wide, 'key') !== textIn(narrow, 'key') && !isAnyKey) return false
  const effect = textIn(wide, 'effect')
  if (effect !== '' && effect !== textIn(narrow, 'effect')) return false
  const seconds = numberIn(wide, 'tolerationSeconds')
  if (effect === 'NoExecute' && seconds !== undefined) {
    const other = numberIn(narrow, 'tolerationSeconds')
    if (other === undefined || other > seconds) return false
  }
  if (textIn(wide, 'operator') === 'Exists') return true
  return textIn(narrow, 'operator') === 'Equal' && textIn(narrow, 'value') === textIn(wide, 'value')
}
