/**
 * A definition's versions with what they all say alike lifted out of them, as upstream does before it judges.
 *
 * Only paths in messages come of it: a definition with one version hears of `spec.validation.openAPIV3Schema`, never of
 * `spec.versions[0].schema`. Tools and people know those paths, so they are kept.
 */
import { FieldPath } from '../error/field-path.ts'
import { deepEqual } from '../json.ts'
import type { JsonObject } from '../json.ts'
import { objectsIn, optionalObjectIn } from './reading.ts'

/** Something that versions say, and where: at the version, or above all of them. */
interface LiftedVersion {
  readonly version: JsonObject
  readonly path: FieldPath
  readonly lifted: boolean
}

const specPath = FieldPath.of('spec')

/** The parts to be judged: one when all versions say the same, else one per version; none for versions that say nothing. */
export function liftVersions(spec: JsonObject, keyword: keyof typeof liftedNames): LiftedVersion[] {
  const versions = objectsIn(spec, 'versions')
  const [first] = versions
  if (first === undefined) return []
  if (isLifted(spec, keyword))
    return saysSomething(first, keyword)
      ? [{ version: first, path: specPath.child(liftedNames[keyword]), lifted: true }]
      : []
  return versions.flatMap((version, index) => {
    return saysSomething(version, keyword)
      ? [{ version, path: specPath.child('versions').index(index).child(keyword), lifted: false }]
      : []
  })
}

/** Whether all versions say the same. */
export function isLifted(spec: JsonObject, keyword: keyof typeof liftedNames): boolean {
  const versions = objectsIn(spec, 'versions')
  return versions.every((version) => deepEqual(version[keyword] ?? null, versions[0]?.[keyword] ?? null))
}

const liftedNames = {
  schema: 'validation',
  subresources: 'subresources',
  additionalPrinterColumns: 'additionalPrinterColumns',
  selectableFields: 'selectableFields',
} as const

function saysSomething(version: JsonObject, keyword: keyof typeof liftedNames): boolean {
  return optionalObjectIn(version, keyword) !== undefined || objectsIn(version, keyword).length > 0
}
