/**
 * What errors of admission are about.
 */
import type { NamedSubject, UnstructuredObject } from '#api'
import type { Target } from '../call.ts'

/** The name of an object that has none yet is the beginning of the one it will get. */
export function subjectOf(
  { resource: { group, plural }, name }: Target,
  object: Pick<UnstructuredObject, 'metadata'> | undefined,
): NamedSubject {
  const own = object?.metadata.name ?? ''
  const generated = object?.metadata.generateName ?? ''
  return { group, kind: plural, name: name || own || generated || 'Unknown' }
}
