/**
 * Fields that nobody owns because the server writes them: type, name, and the bookkeeping in metadata.
 */
import { fieldElement } from '../paths/element.ts'
import { FieldSet } from '../paths/field-set.ts'
import type { Managers } from '../merge/managers.ts'

const metadataFields = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
]

const systemFields = FieldSet.of(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...metadataFields.map((name) => ['f:metadata', `f:${name}`]),
)

/** Takes the fields of the server from one manager; a manager left with nothing is gone. */
export function stripSystemFields(managers: Managers, manager: string): Managers {
  const versioned = managers.get(manager)
  const set = versioned && withoutSystemFields(versioned.set)
  if (!versioned || !set || set === versioned.set) return managers
  const result = new Map(managers)
  if (set.isEmpty) result.delete(manager)
  else result.set(manager, { ...versioned, set })
  return result
}

export function withoutSystemFields(set: FieldSet): FieldSet {
  return set.difference(systemFields)
}

/** Whether the server writes the field at a path, so that nobody owns it. */
export function isSystemField(...names: readonly string[]): boolean {
  return systemFields.has(names.map(fieldElement))
}
