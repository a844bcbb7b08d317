/**
 * The selection of a list or watch: label selector, field selector, and the key range in the store.
 */
import {
  badRequest,
  exactFieldValue,
  matchesFields,
  matchesLabels,
  requireSelectable,
  type UnstructuredObject,
} from '#api'
import type { Resource } from '@evenkeel/builtins'
import type { ListOptions } from '../handlers/list-options.ts'
import type { ResourceRef } from '../request-context.ts'
import { toServed } from '../storage/codec.ts'
import { keyEnd, keyPrefix, objectKey, type Storage } from '../storage/storage.ts'
import type { StoredObject } from '../storage/stored-object.ts'

export interface ListSelection {
  /** The prefix of all keys in the selection. */
  readonly prefix: string
  /** The only key in the selection, when a selector names it. */
  readonly key?: string
  /** The end of all keys in the selection, when a selector requires a name: other objects need not be parsed. */
  readonly keyEnd?: string
  /** Absent when everything below the prefix is selected. A necessary conversion must have been prepared. */
  readonly matches?: (stored: StoredObject) => boolean
}

/**
 * Reads the selectors of a list or watch.
 *
 * @throws {ApiError} `BadRequest`, for an unsupported field.
 */
export function selectionFor(
  { resource, namespace }: ResourceRef,
  { labels, fields }: Pick<ListOptions, 'labels' | 'fields'>,
  { cluster }: Pick<Storage, 'cluster'>,
): ListSelection {
  const { storage, strategy: rules, scope } = resource
  const own = rules.selectableFields ?? {}
  requireKnown(fields, Object.keys(own))
  const inside = namespace === '' && scope === 'Namespaced' ? nameIn(fields, 'metadata.namespace') : namespace
  const prefix = keyPrefix(cluster, storage, { namespace: inside })
  const name = nameIn(fields, 'metadata.name')
  const pinned = name !== '' && (scope === 'Cluster' || inside !== '')
  const key = pinned
    ? { key: objectKey(cluster, storage, { namespace: inside, name }) }
    : name !== '' && { keyEnd: keyEnd(name) }
  if (labels.length === 0 && fields.length === 0) return { prefix }
  // A converter may change labels.
  const labelsOf = (stored: StoredObject): Readonly<Record<string, string>> =>
    resource.reading?.convert ? (toServed(stored, resource).metadata.labels ?? {}) : stored.labels
  const matches = (stored: StoredObject): boolean =>
    (labels.length === 0 || matchesLabels(labels, labelsOf(stored))) &&
    (fields.length === 0 || matchesFields(fields, fieldValues(stored, fields, resource)))
  return { prefix, ...key, matches }
}

type FieldValues = Record<string, string>

/** The values of the selected fields. */
function fieldValues(stored: StoredObject, fields: ListOptions['fields'], resource: Resource): FieldValues {
  const known = stored.keepsParsed ? {} : knownValues(stored, resource)
  const own = resource.strategy.selectableFields ?? {}
  let object: UnstructuredObject | undefined
  for (const { field } of fields) {
    if (Object.hasOwn(known, field)) continue
    object ??= toServed(stored, resource)
    const read = field === 'metadata.name' || field === 'metadata.namespace' ? readMetadata[field] : own[field]
    if (read) known[field] = read(object)
  }
  return known
}

const readMetadata = {
  'metadata.name': ({ metadata }: UnstructuredObject): string => metadata.name ?? '',
  'metadata.namespace': ({ metadata }: UnstructuredObject): string => metadata.namespace ?? '',
} as const

/** Values of objects that are parsed at each use: the watchers of a large object share them. */
const valuesOfObjects = new WeakMap<StoredObject, Map<Resource, FieldValues>>()

function knownValues(stored: StoredObject, resource: Resource): FieldValues {
  const ofResources = valuesOfObjects.get(stored) ?? new Map<Resource, FieldValues>()
  valuesOfObjects.set(stored, ofResources)
  const values = ofResources.get(resource) ?? {}
  ofResources.set(resource, values)
  return values
}

const possibleName = /^[!-.0-~]{1,253}$/

/** The name that a selector requires; empty when there is none, or none that an object could have. */
function nameIn(fields: ListOptions['fields'], field: string): string {
  const name = exactFieldValue(fields, field) ?? ''
  return possibleName.test(name) ? name : ''
}

// The error of a kind without selectable fields lists the supported ones; that of others names only the wrong one.
function requireKnown(fields: ListOptions['fields'], own: readonly string[]): void {
  const common = ['metadata.name', 'metadata.namespace']
  if (own.length > 0) {
    requireSelectable(fields, [...common, ...own])
    return
  }
  const unknown = fields.find(({ field }) => !common.includes(field))
  if (unknown)
    throw badRequest(
      `${JSON.stringify(unknown.field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
    )
}
