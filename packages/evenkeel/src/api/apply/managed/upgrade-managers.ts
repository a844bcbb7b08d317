/**
 * From client-side to server-side apply: what a tool owned by updating becomes what it owns by applying.
 *
 * Without this, fields the tool dropped from its configuration would stay for ever, owned by its former self.
 */
import type { ManagedFieldsEntry } from '../../object.ts'
import { FieldSet } from '../paths/field-set.ts'
import { decodeFields, encodeFields } from '../paths/fields-v1.ts'

export interface UpgradeOptions {
  /**
   * Only entries of this subresource.
   *
   * @default ''
   */
  readonly subresource?: string
}

/** Managed fields in which `from`, so far updating, applies as `to`; the very same list when there is nothing to do. */
export function upgradeManagers(
  entries: readonly ManagedFieldsEntry[],
  { from, to }: { from: string; to: string },
  { subresource = '' }: UpgradeOptions = {},
): readonly ManagedFieldsEntry[] {
  const isFormer = (entry: ManagedFieldsEntry): boolean =>
    entry.manager === from && entry.operation === 'Update' && (entry.subresource ?? '') === subresource
  const former = entries.filter(isFormer)
  const [first] = former
  if (!first) return entries
  const existing = entries.find(
    (entry) => entry.manager === to && entry.operation === 'Apply' && (entry.subresource ?? '') === subresource,
  )
  const kept = existing ?? first
  const set = former
    .filter(({ apiVersion }) => apiVersion === kept.apiVersion)
    .reduce(
      (union, { fieldsV1 }) => union.union(fieldsV1 ? decodeFields(fieldsV1) : new FieldSet()),
      kept.fieldsV1 ? decodeFields(kept.fieldsV1) : new FieldSet(),
    )
  const upgraded: ManagedFieldsEntry = { ...kept, manager: to, operation: 'Apply', fieldsV1: encodeFields(set) }
  return entries
    .map((entry) => (entry === kept ? upgraded : entry))
    .filter((entry) => entry === upgraded || !isFormer(entry))
}
