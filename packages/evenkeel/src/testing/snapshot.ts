/**
 * Snapshots: the state of a world in a form in which two schedules can be compared, and the comparison.
 *
 * A snapshot leaves out what means the same in another form. A uid becomes the name of its object, a time becomes `<time>`
 * unless a user wrote it, a generated name becomes its prefix, a generation becomes "current" or "old". What remains is the
 * desired state and what controllers made of it. Places that differ by nature are masked later (learned.ts).
 *
 * Most objects of one schedule occur in all others, and parsed objects are shared (requests.ts). So the text of an object
 * is cached, unless it contains the name of a uid or a time of the user: these belong to one world.
 */
import { isJsonObject, type JsonObject, type JsonValue, type UnstructuredObject, parseJson, stringifyJson } from '#api'
import { admittedKey, foreignFinalizer, foreignKey, neighbourLabel, poisonLabel } from './foreign-writes.ts'

interface UidNames {
  /** The name of an object that exists or existed in the world. */
  nameOf(uid: string): string | undefined
  /** Whether users have written this time or uid. */
  isWished?(text: string): boolean
}

/** Texts of frozen objects, cached while they name no uid. */
export class ObjectTexts {
  readonly #make: (object: UnstructuredObject, naming: UidNames) => JsonValue
  readonly #known = new WeakMap<UnstructuredObject, string>()

  constructor(make: (object: UnstructuredObject, naming: UidNames) => JsonValue) {
    this.#make = make
  }

  of(object: UnstructuredObject, naming: UidNames): string {
    const known = this.#known.get(object)
    if (known !== undefined) return known
    let isNamed = false
    const nameOf = (uid: string): string | undefined => {
      isNamed = true
      return naming.nameOf(uid)
    }
    const isWished = (value: string): boolean => {
      const isOfUser = naming.isWished?.(value) ?? false
      isNamed ||= isOfUser
      return isOfUser
    }
    const text = stringifyJson(this.#make(object, { nameOf, isWished }))
    if (!isNamed) this.#known.set(object, text)
    return text
  }
}

/** Values by a name that is the same in every schedule; several values may share a name. */
export type Snapshot = ReadonlyMap<string, readonly string[]>

/** The text of a time that no user wrote. */
const anyTime = '"<time>"'
const times = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** The annotation of `children`: controller, generation and a digest of the applied child. */
const appliedAnnotation = 'evenkeel.dev/applied'

/** Kinds that are no part of the desired state: reports of what happened among them. */
const ignoredKinds: ReadonlySet<string> = new Set(['Event', 'Lease', 'CustomResourceDefinition', 'ExternalSweep'])

const normalizedTexts = new ObjectTexts((object, naming) => normalizeObject(object, naming))

/** The objects of the API server, by kind and name. */
export function snapshotObjects(objects: Iterable<UnstructuredObject>, naming: UidNames): Snapshot {
  const found = new Map<string, string[]>()
  for (const object of objects) {
    if (!isRelevant(object)) continue
    const about = describeObject(object)
    found.set(about, [...(found.get(about) ?? []), normalizedTexts.of(object, naming)])
  }
  for (const values of found.values()) values.sort()
  return found
}

/** The resources of an external service, field by field. */
export function snapshotService(name: string, contents: unknown, naming: UidNames): Snapshot {
  const found = new Map<string, string[]>()
  const add = (about: string, value: unknown): void => {
    found.set(about, [...(found.get(about) ?? []), stringifyJson(normalizeValue(value, naming))])
  }
  // A uid becomes the name of its object, as in values: programs name resources by it.
  const keyed = (field: string, key: string): string =>
    `${name} ${field} ${key.replace(uuid, (uid) => naming.nameOf(uid) ?? uid)}`
  for (const [field, value] of Object.entries(contents ?? {})) {
    if (typeof value === 'function' || field.startsWith('_')) continue
    if (value instanceof Map) for (const [key, item] of value) add(keyed(field, String(key)), item)
    else if (value instanceof Set || Array.isArray(value))
      for (const item of value as Iterable<unknown>) add(`${name} ${field}`, item)
    else if (typeof value === 'object' && value !== null)
      for (const [key, item] of Object.entries(value)) add(keyed(field, key), item)
  }
  for (const values of found.values()) values.sort()
  return found
}

/** `ConfigMap default/a`; for a generated name: its prefix. */
export function describeObject({ kind, metadata: { name = '', namespace, generateName } }: UnstructuredObject): string {
  const word = generateName === undefined ? name : `${generateName}*`
  return namespace === undefined ? `${kind} ${word}` : `${kind} ${namespace}/${word}`
}

/** Neither an object of the server itself, nor one that a deviation created. */
export function isRelevant(object: UnstructuredObject): boolean {
  return (
    !ignoredKinds.has(object.kind) &&
    !isOfServer(object) &&
    object.metadata.annotations?.[neighbourLabel] === undefined &&
    object.metadata.annotations?.[poisonLabel] === undefined
  )
}

/** The server created it for itself. */
function isOfServer({ metadata: { labels = {}, name = '' }, kind }: UnstructuredObject): boolean {
  return (
    labels['kubernetes.io/bootstrapping'] !== undefined ||
    (kind === 'Namespace' && /^(?:default|kube-)/.test(name)) ||
    (kind === 'Service' && name === 'kubernetes') ||
    name === 'kube-root-ca.crt'
  )
}

function normalizeObject({ metadata, ...rest }: UnstructuredObject, naming: UidNames): JsonValue {
  const { labels, annotations, finalizers, ownerReferences, deletionTimestamp, generation } = metadata
  const owners = (ownerReferences ?? []).map(({ kind, name, uid, controller, blockOwnerDeletion }) => ({
    kind,
    name: naming.nameOf(uid) === undefined ? `${name} (unknown)` : name,
    controller: controller ?? false,
    blockOwnerDeletion: blockOwnerDeletion ?? false,
  }))
  return {
    ...(normalizeValue(rest, naming, { generation }) as JsonObject),
    metadata: {
      labels: withoutForeignKeys(labels, naming),
      annotations: withoutForeignKeys(annotations, naming),
      owners,
      finalizers: (finalizers ?? []).filter((name) => name !== foreignFinalizer).sort(),
      deleting: deletionTimestamp !== undefined,
    },
  }
}

/** Without the generation, which depends on the order of writes, and the digest, whose content is compared anyway. */
function controllerOf(applied: string): string {
  return applied.replace(/\/\d+\/[0-9a-f]+$/, '')
}

function withoutForeignKeys(values: Readonly<Record<string, string>> | undefined, naming: UidNames): JsonObject {
  return Object.fromEntries(
    Object.entries(values ?? {})
      .filter(([key]) => key !== foreignKey && key !== admittedKey)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [key, normalizeValue(key === appliedAnnotation ? controllerOf(value) : value, naming)]),
  )
}

/** A value without what differs at random. */
export function normalizeValue(
  value: unknown,
  naming: UidNames,
  { generation }: { generation?: number | undefined } = {},
): JsonValue {
  if (typeof value === 'string')
    return times.test(value)
      ? naming.isWished?.(value)
        ? value
        : '<time>'
      : value.replace(uuid, (uid) => naming.nameOf(uid) ?? (naming.isWished?.(uid) ? uid : '<uid>'))
  if (value instanceof Map || value instanceof Set) return [...value].map((item) => normalizeValue(item, naming))
  if (Array.isArray(value)) return value.map((item) => normalizeValue(item, naming, { generation }))
  if (typeof value !== 'object' || value === null) return value as JsonValue
  return normalizeFields(value as JsonObject, naming, generation)
}

/** The order of conditions depends on the order of writes. */
function byType(conditions: readonly JsonValue[]): JsonValue {
  const typeOf = (condition: JsonValue): string => (isJsonObject(condition) ? String(condition['type']) : '')
  return conditions.toSorted((a, b) => (typeOf(a) < typeOf(b) ? -1 : 1))
}

function normalizeFields(value: JsonObject, naming: UidNames, generation: number | undefined): JsonValue {
  const fields: [string, JsonValue][] = []
  // A report about another object has its generation, which depends on how often it was written.
  const about = 'state' in value && typeof value['generation'] === 'number' ? value['generation'] : undefined
  for (const key of Object.keys(value).sort()) {
    const field = value[key]
    if (field === undefined || typeof field === 'function') continue
    if (key === 'generation' && about !== undefined) continue
    if (key === 'observedGeneration' && about !== undefined) fields.push([key, field === about ? 'current' : 'old'])
    else if ((key === 'observedGeneration' || key === 'appliedForGeneration') && generation !== undefined)
      fields.push([key, field === generation ? 'current' : 'old'])
    else if (key === 'conditions' && Array.isArray(field))
      fields.push([key, byType(field.map((item) => normalizeValue(item, naming, { generation })))])
    else fields.push([key, normalizeValue(field, naming, { generation })])
  }
  return Object.fromEntries(fields)
}

export interface Difference {
  readonly type: 'extra' | 'missing' | 'changed'
  readonly about: string
  readonly expected: readonly string[]
  readonly found: readonly string[]
}

/** How two snapshots differ. */
export function compareSnapshots(expected: Snapshot, found: Snapshot): Difference[] {
  const differences: Difference[] = []
  for (const about of new Set([...expected.keys(), ...found.keys()])) {
    const [wanted, have] = [expected.get(about) ?? [], found.get(about) ?? []]
    if (wanted.length === have.length && wanted.every((value, index) => isAlike(value, have[index] ?? ''))) continue
    const type = have.length > wanted.length ? 'extra' : have.length < wanted.length ? 'missing' : 'changed'
    differences.push({ type, about, expected: wanted, found: have })
  }
  return differences
}

/** Equal, but for times in the found status at which something happened that did not happen in the undisturbed schedule. */
function isAlike(wanted: string, have: string): boolean {
  if (wanted === have) return true
  if (!have.includes(anyTime)) return false
  const [expected, found] = [flatten(parseJson(wanted)), flatten(parseJson(have))]
  for (const [path, value] of found)
    if (value === anyTime && path.startsWith('status.') && !expected.has(path)) found.delete(path)
  return expected.size === found.size && [...expected].every(([path, value]) => found.get(path) === value)
}

/** A few lines: what was expected and what was found. */
export function describeDifference({ type, expected, found }: Difference): string[] {
  if (type === 'extra') return [`expected ${expected.length}, found ${found.length}`]
  if (type === 'missing') return [`expected ${expected.length}, found ${found.length}`]
  const [wanted, have] = [
    flatten(parseJson(expected.find((value) => !found.includes(value)) ?? 'null')),
    flatten(parseJson(found.find((value) => !expected.includes(value)) ?? 'null')),
  ]
  const lines: string[] = []
  for (const path of new Set([...wanted.keys(), ...have.keys()])) {
    if (wanted.get(path) === have.get(path)) continue
    lines.push(`${path}: expected ${wanted.get(path) ?? 'nothing'}, found ${have.get(path) ?? 'nothing'}`)
  }
  return lines.slice(0, 6)
}

function flatten(value: unknown, path = '', into = new Map<string, string>()): Map<string, string> {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0)
    into.set(path || 'value', stringifyJson(value))
  else
    for (const [key, inner] of Object.entries(value))
      flatten(inner, Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`, into)
  return into
}
