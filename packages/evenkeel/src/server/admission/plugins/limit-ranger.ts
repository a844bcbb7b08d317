/**
 * LimitRanger: the defaults and the limits that the LimitRanges of a namespace set for its pods and claims.
 *
 * New pods get the default requests and limits of containers; then containers, pods and claims are compared with the
 * minimum, the maximum and the ratio of limit to request. Of updates only a resize of a pod and changes of claims count:
 * the resources of a pod are otherwise immutable. Annotation and texts are those of kube-apiserver.
 *
 * Example: `{ type: Container, default: { cpu: 1 }, max: { cpu: 2 } }` gives a container without limits `limits.cpu: 1`
 * and refuses `limits.cpu: 3`.
 */
import {
  addQuantities,
  compareQuantities,
  compareText,
  formatQuantity,
  objectIn,
  objectsIn,
  quantityAsInteger,
  setOwn,
  textIn,
  type JsonObject,
  type JsonObjectDraft,
  type Quantity,
  type UnstructuredObject,
} from '#api'
import { draftsIn, ensureDraft, quantityFrom, type ObjectDraft } from '@evenkeel/builtins'
import type { Informers } from '../../informers.ts'
import { admissionForbidden, type AdmissionAttributes, type AdmissionPlugin } from '../admission.ts'
import { NamespaceIndex } from '../namespace-index.ts'

const annotationKey = 'kubernetes.io/limit-ranger'

export function limitRangerPlugin({ informers }: { readonly informers: Informers }): AdmissionPlugin {
  const ranges = new NamespaceIndex(informers.forResource('', 'limitranges'))
  return {
    name: 'LimitRanger',
    resources: new Set(['/pods', '/persistentvolumeclaims']),
    handles: ({ operation, target: { resource, subresource, namespace } }) =>
      ranges.has(namespace) &&
      (operation === 'CREATE'
        ? subresource === undefined
        : operation === 'UPDATE' && subresource?.name === (resource.plural === 'pods' ? 'resize' : undefined)),
    mutate(draft, { target, old }) {
      if (target.resource.plural === 'pods' && !isBeingDeleted(old))
        for (const range of ranges.in(target.namespace)) setDefaults(draft, limitsOf(range))
      return false
    },
    validate(object, admitted) {
      if (object !== undefined && !isBeingDeleted(admitted.old))
        for (const range of ranges.in(admitted.target.namespace)) check(object, limitsOf(range), admitted)
      return undefined
    },
  }
}

function isBeingDeleted(old: UnstructuredObject | undefined): boolean {
  return old?.metadata.deletionTimestamp !== undefined
}

function limitsOf(range: UnstructuredObject): readonly JsonObject[] {
  return objectsIn(objectIn(range, 'spec'), 'limits')
}

/** Sets missing requests and limits of containers, and lists them in an annotation. */
function setDefaults(pod: ObjectDraft, limits: readonly JsonObject[]): void {
  const spec = ensureDraft(pod, 'spec')
  const [requests, maxima] = [merged(limits, 'defaultRequest'), merged(limits, 'default')]
  const changes = (list: string, word: string): string[] =>
    draftsIn(spec, list).flatMap((container) => [
      ...change(container, { amounts: requests, part: 'requests', word: `request for ${word}` }),
      ...change(container, { amounts: maxima, part: 'limits', word: `limit for ${word}` }),
    ])
  const all = [...changes('containers', 'container'), ...changes('initContainers', 'init container')]
  if (all.length === 0) return
  setOwn(ensureDraft(pod.metadata, 'annotations'), annotationKey, `LimitRanger plugin set: ${all.join('; ')}`)
}

function merged(limits: readonly JsonObject[], part: string): JsonObject {
  return Object.assign({}, ...limits.filter(isFor('Container')).map((limit) => objectIn(limit, part))) as JsonObject
}

interface DefaultAmounts {
  readonly amounts: JsonObject
  readonly part: 'requests' | 'limits'
  readonly word: string
}

function change(container: JsonObjectDraft, { amounts, part, word }: DefaultAmounts): string[] {
  const present = objectIn(objectIn(container, 'resources'), part)
  const missing = Object.keys(amounts)
    .filter((name) => !Object.hasOwn(present, name))
    .sort(compareText)
  if (missing.length === 0) return []
  const target = ensureDraft(ensureDraft(container, 'resources'), part)
  for (const name of missing) setOwn(target, name, amounts[name] ?? '')
  return [`${missing.join(', ')} ${word} ${textIn(container, 'name')}`]
}

function isFor(type: string): (limit: JsonObject) => boolean {
  return (limit) => textIn(limit, 'type') === type
}

/** @throws {ApiError} `Forbidden` with all violations of one LimitRange. */
function check(object: UnstructuredObject, limits: readonly JsonObject[], admitted: AdmissionAttributes): void {
  const isPod = admitted.target.resource.plural === 'pods'
  const complaints = limits.flatMap((limit) => (isPod ? podComplaints(object, limit) : claimComplaints(object, limit)))
  const [first] = complaints
  if (first === undefined) return
  const unique = [...new Set(complaints)]
  throw admissionForbidden(admitted, object, unique.length === 1 ? first : `[${unique.join(', ')}]`)
}

/** The requests and limits that are compared with one entry of a LimitRange. */
interface Usage {
  readonly requests: JsonObject
  readonly limits: JsonObject
}

function podComplaints(pod: UnstructuredObject, limit: JsonObject): string[] {
  const spec = objectIn(pod, 'spec')
  if (isFor('Pod')(limit))
    return complaintsOf(limit, { requests: podAmounts(spec, 'requests'), limits: podAmounts(spec, 'limits') })
  if (!isFor('Container')(limit)) return []
  return [...objectsIn(spec, 'containers'), ...objectsIn(spec, 'initContainers')].flatMap((container) => {
    const resources = objectIn(container, 'resources')
    return complaintsOf(limit, { requests: objectIn(resources, 'requests'), limits: objectIn(resources, 'limits') })
  })
}

/** Of a claim only requests count. */
function claimComplaints(claim: UnstructuredObject, limit: JsonObject): string[] {
  if (!isFor('PersistentVolumeClaim')(limit)) return []
  const requests = objectIn(objectIn(objectIn(claim, 'spec'), 'resources'), 'requests')
  return [
    ...complaints(limit, { part: 'min', usage: { requests, limits: {} }, judge: belowMinimum }),
    ...complaints(limit, { part: 'max', usage: { requests, limits: requests }, judge: requestAboveMaximum }),
  ]
}

function complaintsOf(limit: JsonObject, usage: Usage): string[] {
  return [
    ...complaints(limit, { part: 'min', usage, judge: belowMinimum }),
    ...complaints(limit, { part: 'max', usage, judge: aboveMaximum }),
    ...complaints(limit, { part: 'maxLimitRequestRatio', usage, judge: aboveRatio }),
  ]
}

interface Judged {
  /** Of the LimitRange, as written. */
  readonly bound: Amount
  readonly request: Amount | undefined
  readonly limit: Amount | undefined
  /** `cpu usage per Container is 1`, after the word for the bound. */
  readonly usage: string
  /** `cpu max limit to request ratio per Container is 1`. */
  readonly ratio: string
}

type Judge = (judged: Judged) => string | undefined

interface ComplaintOptions {
  readonly part: string
  readonly usage: Usage
  readonly judge: Judge
}

function complaints(limit: JsonObject, { part, usage, judge }: ComplaintOptions): string[] {
  const type = textIn(limit, 'type')
  const bounds = objectIn(limit, part)
  return Object.keys(bounds)
    .sort(compareText)
    .flatMap((name) => {
      const bound = amountIn(bounds, name)
      if (bound === undefined) return []
      const [request, maximum] = [amountIn(usage.requests, name), amountIn(usage.limits, name)]
      const complaint = judge({
        bound,
        request,
        limit: maximum,
        usage: `${name} usage per ${type} is ${bound.text}`,
        ratio: `${name} max limit to request ratio per ${type} is ${bound.text}`,
      })
      return complaint === undefined ? [] : [complaint]
    })
}

const belowMinimum: Judge = ({ bound, request, limit, usage }) => {
  if (request === undefined) return `minimum ${usage}.  No request is specified`
  if (request.milli < bound.milli) return `minimum ${usage}, but request is ${request.text}`
  return limit && limit.milli < bound.milli ? `minimum ${usage}, but limit is ${limit.text}` : undefined
}

const aboveMaximum: Judge = ({ bound, request, limit, usage }) => {
  if (limit === undefined) return `maximum ${usage}.  No limit is specified`
  if (limit.milli > bound.milli) return `maximum ${usage}, but limit is ${limit.text}`
  return request && request.milli > bound.milli ? `maximum ${usage}, but request is ${request.text}` : undefined
}

const requestAboveMaximum: Judge = ({ bound, request, usage }) => {
  if (request === undefined) return `maximum ${usage}.  No request is specified`
  return request.milli > bound.milli ? `maximum ${usage}, but request is ${request.text}` : undefined
}

const aboveRatio: Judge = ({ bound, request, limit, ratio }) => {
  if (request === undefined || request.milli === 0n) return `${ratio}, but no request is specified or request is 0`
  if (limit === undefined || limit.milli === 0n) return `${ratio}, but no limit is specified or limit is 0`
  const observed = Number(limit.milli) / Number(request.milli)
  return observed * 1000 > Number(bound.milli) ? `${ratio}, but provided ratio is ${observed.toFixed(6)}` : undefined
}

/** A quantity as it is written, and in thousandths, rounded up. */
interface Amount {
  readonly text: string
  readonly milli: bigint
}

function amountIn(amounts: JsonObject, name: string): Amount | undefined {
  const value = Object.hasOwn(amounts, name) ? amounts[name] : undefined
  const quantity: Quantity | undefined = quantityFrom(value)
  return quantity && { text: String(value), milli: quantityAsInteger(quantity, { scale: -3 }) }
}

// What a whole pod requests, or may use: the sum of its containers, or the largest init container if that is more. A
// restartable init container runs beside the containers and counts as one of them. Pod-level resources win.
//
// Example: containers 1 + 1, init container 3: the pod requests 3. With a restartable init container of 1 before it, the
// init container runs beside that one: 3 + 1 = 4.

type Amounts = Map<string, Quantity>

/** Resources that can be set for the pod as a whole. */
const podLevelResources: ReadonlySet<string> = new Set(['cpu', 'memory'])

/** @param part `requests` or `limits` */
function podAmounts(spec: JsonObject, part: 'requests' | 'limits'): JsonObject {
  const of = (container: JsonObject): Amounts => amountsIn(objectIn(objectIn(container, 'resources'), part))
  const total: Amounts = new Map()
  for (const container of objectsIn(spec, 'containers')) add(total, of(container))
  const [sidecars, largest]: [Amounts, Amounts] = [new Map(), new Map()]
  for (const container of objectsIn(spec, 'initContainers')) {
    const own = of(container)
    if (textIn(container, 'restartPolicy') === 'Always') {
      add(total, own)
      add(sidecars, own)
      raise(largest, sidecars)
    } else {
      add(own, sidecars)
      raise(largest, own)
    }
  }
  raise(total, largest)
  for (const [name, amount] of of(spec)) if (podLevelResources.has(name)) total.set(name, amount)
  return Object.fromEntries([...total].map(([name, amount]) => [name, formatQuantity(amount)]))
}

function amountsIn(amounts: JsonObject): Amounts {
  const found: Amounts = new Map()
  for (const [name, value] of Object.entries(amounts)) {
    const quantity = quantityFrom(value)
    if (quantity) found.set(name, quantity)
  }
  return found
}

function add(to: Amounts, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const present = to.get(name)
    to.set(name, present === undefined ? amount : addQuantities(present, amount))
  }
}

function raise(to: Amounts, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const present = to.get(name)
    if (present === undefined || compareQuantities(amount, present) > 0) to.set(name, amount)
  }
}
