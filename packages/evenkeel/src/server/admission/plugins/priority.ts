/**
 * Priority: the number and the preemption policy of a pod come from its PriorityClass, or from the one that is the global
 * default. There is at most one global default.
 */
import { isSet, numberIn, objectIn, textIn, type UnstructuredObject } from '#api'
import { ensureDraft, type ObjectDraft } from '@evenkeel/builtins'
import type { Informer, Informers } from '../../informers.ts'
import { admissionForbidden, type AdmissionAttributes, type AdmissionPlugin } from '../admission.ts'

/** Without a global default. */
const defaultPolicy = 'PreemptLowerPriority'

export function priorityPlugin({ informers }: { readonly informers: Informers }): AdmissionPlugin {
  const classes = new PriorityClasses(informers.forResource('scheduling.k8s.io', 'priorityclasses'))
  return {
    name: 'Priority',
    resources: new Set(['/pods', 'scheduling.k8s.io/priorityclasses']),
    handles: ({ operation, target }) => operation !== 'DELETE' && target.subresource === undefined,
    mutate(draft, admitted) {
      if (admitted.target.resource.plural === 'pods') {
        if (admitted.old === undefined) setPriority(draft, classes, admitted)
        else keepPriority(draft, admitted.old)
      }
      return false
    },
    validate(object, admitted) {
      if (admitted.target.resource.plural !== 'priorityclasses' || !isSet(object, 'globalDefault')) return undefined
      const present = classes.globalDefault()?.metadata.name
      if (present !== undefined && (admitted.old === undefined || present !== object?.metadata.name))
        throw admissionForbidden(
          admitted,
          object,
          `PriorityClass ${present} is already marked as default. Only one default can exist`,
        )
      return undefined
    },
  }
}

/** @throws {ApiError} `Forbidden`, when there is no such class or the pod wants other values. */
function setPriority(pod: ObjectDraft, classes: PriorityClasses, admitted: AdmissionAttributes): void {
  const spec = ensureDraft(pod, 'spec')
  const name = textIn(spec, 'priorityClassName')
  const found = name === '' ? classes.globalDefault() : classes.get(name)
  if (found === undefined && name !== '')
    throw admissionForbidden(admitted, pod, `no PriorityClass with name ${name} was found`)
  const priority = numberIn(found, 'value') ?? 0
  const wanted = numberIn(spec, 'priority')
  if (wanted !== undefined && wanted !== priority)
    throw admissionForbidden(
      admitted,
      pod,
      `the integer value of priority (${wanted}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`,
    )
  const policy = found === undefined ? defaultPolicy : textIn(found, 'preemptionPolicy')
  const wantedPolicy = textIn(spec, 'preemptionPolicy')
  if (wantedPolicy !== '' && policy !== '' && wantedPolicy !== policy)
    throw admissionForbidden(
      admitted,
      pod,
      `the string value of PreemptionPolicy (${wantedPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    )
  if (found?.metadata.name !== undefined) spec['priorityClassName'] = found.metadata.name
  spec['priority'] = priority
  if (policy !== '') spec['preemptionPolicy'] = policy
}

/** An update that leaves them out keeps them; validation refuses other values. */
function keepPriority(pod: ObjectDraft, old: UnstructuredObject): void {
  const before = objectIn(old, 'spec')
  for (const key of ['priority', 'preemptionPolicy']) {
    const value = before[key]
    if (value !== undefined && objectIn(pod, 'spec')[key] === undefined) ensureDraft(pod, 'spec')[key] = value
  }
}

class PriorityClasses {
  readonly #informer: Informer
  #default: { readonly version: number; readonly found: UnstructuredObject | undefined } | undefined

  constructor(informer: Informer) {
    this.#informer = informer
  }

  get(name: string): UnstructuredObject | undefined {
    return this.#informer.get(name)
  }

  /** After a race there may be several: the one with the lowest value counts. */
  globalDefault(): UnstructuredObject | undefined {
    const { version } = this.#informer
    if (this.#default?.version !== version) {
      const [found] = this.#informer
        .list()
        .filter((one) => isSet(one, 'globalDefault'))
        .toSorted((a, b) => (numberIn(a, 'value') ?? 0) - (numberIn(b, 'value') ?? 0))
      this.#default = { version, found }
    }
    return this.#default.found
  }
}
