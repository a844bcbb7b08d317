/**
 * What errors of admission are about.
 */
import type { NamedSubject, UnstructuredObject } from '#api'
import type { ResourceRef } from '../call.ts'

/** The name of an object that has none yet is the beginning of the one it will get. */
export function admissionSubject(
  { resource: { group, plural }, name }: ResourceRef,
  object: Pick<UnstructuredObject, 'metadata'> | undefined,
): NamedSubject {
  const own = object?.metadata.name ?? ''
  const generated = object?.metadata.generateName ?? ''
  return { group, kind: plural, name: name || own || generated || 'Unknown' }
}
