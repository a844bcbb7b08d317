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
  const shown = (stored: StoredObject): UnstructuredObject =>
    resource.reading?.convert ? toServed(stored, resource) : stored.object
  const valuesOf = (stored: StoredObject): Record<string, string> => {
    const object = shown(stored)
    const values: Record<string, string> = {
      'metadata.name': object.metadata.name ?? '',
      'metadata.namespace': object.metadata.namespace ?? '',
    }
    for (const { field } of fields) {
      const value = Object.hasOwn(own, field) ? own[field] : undefined
      if (value) values[field] = value(toServed(stored, resource))
    }
    return values
  }
  const matches = (stored: StoredObject): boolean =>
    matchesLabels(labels, shown(stored).metadata.labels ?? {}) &&
    (fields.length === 0 || matchesFields(fields, valuesOf(stored)))
  return { prefix, ...key, matches }
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
