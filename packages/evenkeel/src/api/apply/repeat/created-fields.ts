/**
 * What the maker of a new object comes to own.
 *
 * Objects of one making differ in their values, not in their fields: the last few shapes of a type are remembered, with
 * the fields they give.
 */
import type { JsonObject } from '../../json.ts'
import type { FieldFilter } from '../merge/managers.ts'
import type { FieldSet } from '../paths/field-set.ts'
import { compareUnmanaged } from '../typed/compare.ts'
import type { FieldType } from '../typed/field-type.ts'
import { hasShape, objectShapeOf } from './shape.ts'
import type { ObjectShape } from './shape.ts'
import { RecentCache } from './recent.ts'

interface CreatedShape {
  readonly filter: FieldFilter | undefined
  readonly shape: ObjectShape
  readonly set: FieldSet
}

const recentShapes = new RecentCache<FieldType, CreatedShape>(8)

/**
 * Every field of the object that `strip` and the filter leave.
 *
 * @throws {TypedError} when the object does not fit its type.
 */
export function createdFields(
  object: JsonObject,
  type: FieldType,
  { filter, strip }: { filter: FieldFilter | undefined; strip: FieldFilter },
): FieldSet {
  const known = recentShapes.find(type, (made) => made.filter === filter && hasShape(object, made.shape, type))
  if (known) return known.set
  const { added, modified } = compareUnmanaged({}, object, type)
  const owned = modified.union(added)
  const set = strip(filter ? filter(owned) : owned)
  const shape = objectShapeOf(object, type)
  if (shape !== undefined) recentShapes.add(type, { filter, shape, set })
  return set
}
