/**
 * Part of room 7: who manages which field.
 *
 * Every write says who it is, by its field manager or its user agent, and what it changes becomes its own; an apply may
 * not change what others own unless it is told to. Fields that an endpoint does not write it cannot own.
 */
import { applyConfiguration, excludeFields, includeFields, parseApiVersion, trackUpdate } from '#api'
import type { ConvertedObject, JsonObject, Schema, UnstructuredObject } from '#api'
import { builtinDefinitions } from '../builtin/definitions.ts'
import type { Rooms, Target } from '../call.ts'
import { convertBetween, servedType } from '../convert.ts'
import type { ObjectDraft, Resource } from './resource.ts'

const managerBytesMax = 128

/** The name of a field manager: what the client says, else what its user agent is called. */
export function managerName(fieldManager: string, userAgent = ''): string {
  if (fieldManager !== '') return fieldManager
  const [product = ''] = userAgent.split('/', 1)
  let name = ''
  for (const character of product) {
    if (/\p{C}/u.test(character)) continue
    if (Buffer.byteLength(name + character) > managerBytesMax) break
    name += character
  }
  return name
}

interface Managing {
  readonly manager: string
  readonly target: Target
  readonly rooms: Pick<Rooms, 'clock' | 'registry'>
}

/** An object about to be stored, with what its writer now manages. */
export function track(next: ObjectDraft, live: UnstructuredObject | undefined, managing: Managing): ObjectDraft {
  return trackUpdate({ ...requestOf(managing), live: live as unknown as JsonObject | undefined, next: next as JsonObject }) as ObjectDraft
}

/**
 * What an applied configuration makes of an object.
 *
 * @throws {ApiError} `Conflict`, naming the fields that others manage.
 */
export function applied(config: JsonObject, live: UnstructuredObject | undefined, { force, ...managing }: Managing & { readonly force: boolean }): JsonObject {
  return applyConfiguration({ ...requestOf(managing), kind: managing.target.resource.kind, live: live as unknown as JsonObject | undefined, config, force })
}

type Request = Omit<Parameters<typeof trackUpdate>[0], 'live' | 'next'>

function requestOf({ manager, target: { resource, subresource }, rooms: { clock, registry } }: Managing): Request {
  const { schema, filters } = partsOf(resource)
  return {
    manager, schema, nowMs: clock.now(), apiVersion: servedType(resource).apiVersion, subresource: subresource?.name,
    filter: filters[subresource?.name ?? ''] ?? undefined,
    convert: (object, apiVersion) => convertTo(object, apiVersion, { resource, registry }),
  }
}

function convertTo(object: JsonObject, apiVersion: string, { resource, registry }: { resource: Resource, registry: Rooms['registry'] }): ConvertedObject | undefined {
  if (apiVersion === servedType(resource).apiVersion) return { object, schema: partsOf(resource).schema }
  const parsed = parseApiVersion(apiVersion)
  const other = parsed && registry.find(parsed.group, parsed.version, resource.plural)
  if (other === undefined || other.storage.plural !== resource.storage.plural || other.storage.group !== resource.storage.group) return undefined
  return { object: convertBetween(object, resource, other), schema: partsOf(other).schema }
}

interface Parts {
  readonly schema: Schema
  readonly filters: Readonly<Record<string, ReturnType<typeof excludeFields>>>
}

const parts = new WeakMap<Resource, Parts>()

function partsOf(resource: Resource): Parts {
  let known = parts.get(resource)
  if (known === undefined) parts.set(resource, known = { schema: managedSchema(resource), filters: filtersOf(resource) })
  return known
}

// What a custom resource says about metadata is not how metadata is merged.
function managedSchema({ custom, schema }: Resource): Schema {
  if (!custom) return schema
  const { root } = schema
  return { definitions: builtinDefinitions, root: { ...root, properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, ...root.properties, metadata: { $ref: 'meta.v1.ObjectMeta' } } } }
}

function filtersOf({ custom, subresources }: Resource): Parts['filters'] {
  const hasStatus = subresources.some(({ name }) => name === 'status')
  return {
    ...hasStatus && { '': excludeFields(['status']) },
    status: custom ? includeFields(['status']) : excludeFields(['spec']),
    scale: includeFields(['spec', 'replicas']),
  }
}
