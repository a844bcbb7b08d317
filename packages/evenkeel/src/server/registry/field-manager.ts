/**
 * Managed fields: which field manager owns which fields of an object.
 *
 * Every write has a field manager, from its options or its user agent, and comes to own the fields that it changes.
 * An apply may not change fields of other managers unless it is forced. A subresource cannot own fields that it does
 * not write: most kinds are alike, and rows for the others follow the strategies of Kubernetes 1.36.
 *
 * Some computations need objects in other versions of a custom kind, and the converter may be asynchronous. Such a
 * computation is interrupted at the missing version and runs again once that is converted, so it must be pure.
 */
import {
  applyConfiguration,
  excludeFields,
  includeFields,
  isJsonObject,
  managedFieldsAfterUpdate,
  parseApiVersion,
  type ConvertedObject,
  type FieldFilter,
  type FieldManagerRequest,
  type JsonObject,
  type Schema,
  type UnstructuredObject,
  stringifyJson,
} from '#api'
import type { Clock } from '#base'
import { builtinSchemas, type ObjectDraft, type Resource, type StoredObjectReader } from '@evenkeel/builtins'
import type { ResourceRef } from '../request-context.ts'
import { convertBetween, servedType } from '../storage/codec.ts'
import type { Registry } from './registry.ts'

const managerBytesMax = 128

/** The name of a field manager: the requested one, else the product name of the user agent. */
export function managerName(fieldManager: string, userAgent = ''): string {
  if (fieldManager !== '') return fieldManager
  const slash = userAgent.indexOf('/')
  const product = slash < 0 ? userAgent : userAgent.slice(0, slash)
  // The fast path for nearly all user agents.
  if (/^[ -~]{0,128}$/.test(product)) return product
  let name = ''
  for (const character of product) {
    if (/\p{C}/u.test(character)) continue
    if (Buffer.byteLength(name + character) > managerBytesMax) break
    name += character
  }
  return name
}

interface ManagedWrite {
  readonly manager: string
  readonly target: ResourceRef
  /** Converts versions of a custom kind, where a converter had to be called. */
  readonly convert?: ConvertNow
}

export class FieldManager {
  readonly #clock: Clock
  readonly #registry: Registry

  constructor({ clock, registry }: { readonly clock: Clock; readonly registry: Registry }) {
    this.#clock = clock
    this.#registry = registry
  }

  /** Updates the managed fields of an object for its writer, before it is stored. */
  track(next: ObjectDraft, live: UnstructuredObject | undefined, write: ManagedWrite): void | Promise<void> {
    return withConverter(write, (able) => {
      this.#trackNow(next, live, able)
    })
  }

  /**
   * The object after an applied configuration.
   *
   * @throws {ApiError} `Conflict`, with the fields that other managers own.
   */
  apply(
    config: JsonObject,
    live: UnstructuredObject | undefined,
    { force, ...write }: ManagedWrite & { readonly force: boolean },
  ): JsonObject | Promise<JsonObject> {
    const { kind } = write.target.resource
    return withConverter(write, (able) =>
      applyConfiguration(this.#requestOf(able, { kind, live: live, config, force })),
    )
  }

  #trackNow(next: ObjectDraft, live: UnstructuredObject | undefined, write: ManagedWrite): void {
    const entries = managedFieldsAfterUpdate(this.#requestOf(write, { live: live, next: next }))
    if (entries) next.metadata['managedFields'] = entries
    else if (next.metadata['managedFields'] !== undefined) delete next.metadata['managedFields']
  }

  #requestOf<Rest extends object>(
    { manager, target: { resource, subresource }, convert }: ManagedWrite,
    rest: Rest,
  ): FieldManagerRequest & Rest {
    const { apiVersion, schema, filters } = managedPartsOf(resource)
    return {
      manager,
      schema,
      nowMs: this.#clock.now(),
      apiVersion,
      subresource: subresource?.name,
      keepsEmpty: resource.custom,
      filter: filters[subresource?.name ?? ''] ?? undefined,
      convert: (object, version) =>
        resource.reading
          ? convertCustom(object, version, { resource, convert })
          : convertTo(object, version, { resource, registry: this.#registry }),
      ...rest,
    }
  }
}

/** Waits only when a conversion is asynchronous. */
function withConverter<T>(managing: ManagedWrite, compute: (able: ManagedWrite) => T): T | Promise<T> {
  const { resource } = managing.target
  return resource.reading?.convert === undefined
    ? compute(managing)
    : withConversions(resource.reading.convert, (convert) => compute({ ...managing, convert }))
}

function convertTo(
  object: JsonObject,
  apiVersion: string,
  { resource, registry }: { resource: Resource; registry: Registry },
): ConvertedObject | undefined {
  const from = object['apiVersion'] ?? apiVersion
  const [source, other] = [String(from), apiVersion].map((version) => versionOf(resource, version, registry))
  if (other === undefined) return undefined
  return {
    object:
      source === undefined || source === other ? object : convertBetween(object as UnstructuredObject, source, other),
    schema: managedPartsOf(other).schema,
  }
}

/** Another version of a built-in kind, if both serve the same objects. */
function versionOf(resource: Resource, apiVersion: string, registry: Registry): Resource | undefined {
  if (apiVersion === managedPartsOf(resource).apiVersion) return resource
  const { group, version } = parseApiVersion(apiVersion)
  const other = registry.find(group, version, resource.plural)
  return other?.storage.plural === resource.storage.plural && other.storage.group === resource.storage.group
    ? other
    : undefined
}

/** Versions of a custom kind that are not served count as well: objects may still have managers of them. */
function convertCustom(
  object: JsonObject,
  apiVersion: string,
  { resource, convert }: { resource: Resource; convert: ConvertNow | undefined },
): ConvertedObject | undefined {
  const version = apiVersion.startsWith(`${resource.group}/`) ? apiVersion.slice(resource.group.length + 1) : ''
  const schema = resource.reading?.schemaOf(version)
  if (schema === undefined) return undefined
  if ((object['apiVersion'] ?? apiVersion) === apiVersion) return { object, schema: customSchema(schema) }
  const converted = convert ? convert(object, version) : resource.reading?.read(object as UnstructuredObject, version)
  return converted && { object: converted, schema: customSchema(schema) }
}

interface ManagedParts {
  readonly apiVersion: string
  readonly schema: Schema
  readonly filters: ResetFilters
}

const managedParts = new WeakMap<Resource, ManagedParts>()

function managedPartsOf(resource: Resource): ManagedParts {
  let known = managedParts.get(resource)
  if (known === undefined)
    managedParts.set(
      resource,
      (known = {
        apiVersion: servedType(resource).apiVersion,
        schema: managedSchema(resource),
        filters: resetFilters(resource),
      }),
    )
  return known
}

// The metadata schema in a CRD does not decide how metadata is merged.
export function managedSchema({ custom, schema }: Resource): Schema {
  return custom ? customSchema(schema) : schema
}

const customSchemas = new WeakMap<Schema, Schema>()

function customSchema(schema: Schema): Schema {
  let known = customSchemas.get(schema)
  if (known === undefined) customSchemas.set(schema, (known = withMetadata(schema)))
  return known
}

function withMetadata({ root }: Schema): Schema {
  return {
    definitions: builtinSchemas,
    root: {
      ...root,
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        ...root.properties,
        metadata: { $ref: 'meta.v1.ObjectMeta' },
      },
    },
  }
}

/** A filter for each endpoint of an object; the object itself is `''`. Endpoints without one own what they write. */
type ResetFilters = Readonly<Record<string, FieldFilter>>

export function resetFilters(resource: Resource): ResetFilters {
  const { group, kind, subresources } = resource
  const special = Object.hasOwn(specials, `${group}/${kind}`) ? specials[`${group}/${kind}`] : undefined
  const hasStatus = subresources.some(({ name }) => name === 'status')
  return { ...(hasStatus && { '': withoutStatus, status: statusFilter(resource) }), ...special }
}

// Created once: the cache of updates compares filters by `===`, also after a CRD is served again.
const withoutStatus = excludeFields(['status'])
const statusFilters = {
  metadata: excludeFields(['metadata'], ['spec']),
  labels: excludeFields(['spec'], ['metadata', 'labels']),
  ownerReferences: excludeFields(['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']),
  other: excludeFields(['spec']),
}

const specials: Readonly<Record<string, ResetFilters>> = {
  '/Namespace': { finalize: withoutStatus },
  '/Pod': {
    ephemeralcontainers: includeFields(['spec', 'ephemeralContainers']),
    resize: includeFields(
      ...['containers', 'initContainers'].flatMap((list) => [
        ['spec', list, '*', 'resources'],
        ['spec', list, '*', 'resizePolicy'],
      ]),
    ),
  },
  'certificates.k8s.io/CertificateSigningRequest': {
    '': excludeFields(['spec'], ['status']),
    approval: excludeFields(['spec'], ['status', 'certificate']),
    status: excludeFields(['spec'], ['status', 'conditions']),
  },
}

function statusFilter({ custom, strategy: { statusKeeps } }: Resource): FieldFilter {
  if (custom || statusKeeps === 'metadata') return statusFilters.metadata
  switch (statusKeeps) {
    case 'labels':
      return statusFilters.labels
    case 'ownerReferences':
      return statusFilters.ownerReferences
    default:
      return statusFilters.other
  }
}

/** An object in a version of its kind, by the name of the version. */
type ConvertNow = (object: JsonObject, version: string) => JsonObject

/** The conversion that a computation lacks. It never leaves this file. */
class MissingConversion extends Error {
  readonly object: JsonObject
  readonly version: string

  constructor(object: JsonObject, version: string) {
    super(`an object is needed in ${version}`)
    this.object = object
    this.version = version
  }
}

/** Far more than any number of served versions, times the objects of one write. */
const roundsMax = 1000

/**
 * The result of a computation on objects of a custom kind.
 *
 * @throws {ApiError} 500, when a converter failed.
 */
export async function withConversions<T>(
  convert: NonNullable<StoredObjectReader['convert']>,
  compute: (convert: ConvertNow) => T,
): Promise<T> {
  const known = new Map<string, JsonObject>()
  const convertNow: ConvertNow = (object, version) => {
    // An object without metadata is the same in every version.
    if (!isJsonObject(object['metadata'])) return object
    const found = known.get(conversionKey(object, version))
    if (found === undefined) throw new MissingConversion(object, version)
    return found
  }
  for (let round = 0; round < roundsMax; round++) {
    try {
      return compute(convertNow)
    } catch (lacking) {
      if (!(lacking instanceof MissingConversion)) throw lacking
      const { object, version } = lacking
      const [converted] = await convert([object as UnstructuredObject], version)
      known.set(conversionKey(object, version), converted ?? object)
    }
  }
  throw new RangeError(`a computation needs more than ${roundsMax} conversions`)
}

function conversionKey(object: JsonObject, version: string): string {
  return `${version} ${stringifyJson(object)}`
}
