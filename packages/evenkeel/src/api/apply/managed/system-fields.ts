/**
 * Fields that nobody owns because the server writes them: type, name, and the bookkeeping in metadata.
 */
import { FieldSet } from '../paths/field-set.ts'
import type { Managers } from '../merge/managers.ts'

const metadataFields = ['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation', 'managedFields', 'resourceVersion']

const systemFields = FieldSet.of(['f:apiVersion'], ['f:kind'], ['f:metadata'], ...metadataFields.map((name) => ['f:metadata', `f:${name}`]))

/** Takes the fields of the server from one manager; a manager left with nothing is gone. */
export function stripSystemFields(managers: Managers, manager: string): Managers {
  const versioned = managers.get(manager)
  const set = versioned?.set.difference(systemFields)
  if (!versioned || !set || set === versioned.set) return managers
  const result = new Map(managers)
  if (set.isEmpty) result.delete(manager)
  else result.set(manager, { ...versioned, set })
  return result
}
