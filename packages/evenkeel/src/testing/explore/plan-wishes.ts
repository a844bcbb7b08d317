/**
 * What a user may ask for beside what the scenario does: every property of a spec otherwise, gone, at its edge; and back.
 *
 * The schema says what is allowed. When a wish is taken back, everything must be as it was; when its object is
 * deleted before anybody could look, everything of it must go.
 */
import { isJsonObject } from '#api'
import type { JsonObject, JsonValue, UnstructuredObject } from '#api'
import type { Deviation, SchedulePoint } from '../faults/deviation.ts'
import type { World } from '../world/world.ts'
import { objectsAtQuiet, objectReferenceOf, quietIndexesOf } from './objects-at.ts'

/** More are left out: the first ones are those that differ most. */
const perPropertyMax = 3

export function planSpecChanges(world: World): Deviation[] {
  const found = new Map<string, Deviation[]>()
  for (const index of quietIndexesOf(world)) {
    const wished = objectsAtQuiet(world, index).filter(
      (object) => world.facts.state.isReconciled(object) && object.metadata.deletionTimestamp === undefined,
    )
    const all = wished.flatMap((object) =>
      amendments(object, schemaOf(world, object)).map((spec) => ({ object, spec })),
    )
    for (const { object, spec } of all) {
      const key = `${object.kind} ${JSON.stringify(spec)}`
      if (!found.has(key)) found.set(key, deviationsFor(object, spec, index))
    }
  }
  return [...found.values()].flat()
}

/** Changed and changed back, or deleted later; what goes missing from a spec also just before its object is deleted. */
function deviationsFor(object: UnstructuredObject, spec: JsonObject, index: number): Deviation[] {
  const at: SchedulePoint = { type: 'quiet', index }
  const deed = { type: 'amend', object: objectReferenceOf(object), spec } as const
  return [
    { at, deed: { ...deed, then: 'back' } },
    { at, deed: { ...deed, then: 'later' } },
    ...(Object.values(spec).includes(null) ? [{ at, deed: { ...deed, then: 'delete' } } as const] : []),
  ]
}

/** Merge patches of the spec, one property each. */
function amendments(object: UnstructuredObject, schema: JsonObject): JsonObject[] {
  const spec = isJsonObject(object['spec']) ? object['spec'] : {}
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  return Object.entries(properties).flatMap(([name, one]) => {
    const now = spec[name]
    const values = isJsonObject(one) ? otherValues(one, now) : []
    if (now !== undefined && !required.includes(name)) values.unshift(null)
    return values
      .filter((value) => JSON.stringify(value) !== JSON.stringify(now))
      .slice(0, perPropertyMax)
      .map((value): JsonObject => ({ [name]: value }))
  })
}

/** Values that the schema allows, the edges first. */
function otherValues(
  {
    type,
    enum: choices,
    minimum,
    maximum,
    minLength = 0,
    pattern,
    format,
    items,
    additionalProperties,
    properties,
  }: JsonObject,
  now: JsonValue | undefined,
): JsonValue[] {
  if (Array.isArray(choices)) return choices.filter((choice) => choice !== now)
  switch (type) {
    case 'boolean':
      return [now !== true]
    case 'integer':
    case 'number': {
      const lowest = typeof minimum === 'number' ? minimum : 0
      const next = typeof now === 'number' ? now + 1 : lowest + 1
      return typeof maximum === 'number' && next > maximum ? [lowest] : [lowest, next]
    }
    case 'string':
      return pattern !== undefined || format !== undefined
        ? []
        : minLength === 0
          ? ['', `${typeof now === 'string' ? now : 'some'}-other`]
          : [`${typeof now === 'string' ? now : 'some'}-other`]
    case 'array':
      return otherLists(Array.isArray(now) ? now : [], items)
    case 'object':
      return otherMaps(isJsonObject(now) ? now : {}, { additionalProperties, properties })
    default:
      return []
  }
}

/** One more, none, one less. */
function otherLists(now: readonly JsonValue[], items: JsonValue | undefined): JsonValue[] {
  const isText =
    isJsonObject(items) && items['type'] === 'string' && items['enum'] === undefined && items['pattern'] === undefined
  return [
    ...(isText ? [[...now, 'some-other']] : []),
    ...(now.length > 0 ? [[]] : []),
    ...(now.length > 1 ? [now.slice(1)] : []),
  ]
}

/** One entry more, or one property of it otherwise: as a merge patch. */
function otherMaps(
  now: JsonObject,
  {
    additionalProperties,
    properties,
  }: { additionalProperties: JsonValue | undefined; properties: JsonValue | undefined },
): JsonValue[] {
  if (isJsonObject(additionalProperties) && additionalProperties['type'] === 'string') return [{ 'some-other': 'some' }]
  if (!isJsonObject(properties)) return []
  return Object.entries(properties).flatMap(([name, one]) =>
    isJsonObject(one) && one['type'] !== 'object'
      ? otherValues(one, now[name])
          .slice(0, 1)
          .map((value) => ({ [name]: value }))
      : [],
  )
}

function schemaOf(world: World, object: UnstructuredObject): JsonObject {
  const kind = world.facts.state.declarations
    .map((declaration) => declaration.for)
    .find((one) => one.kind === object.kind && one.apiVersion === object.apiVersion)
  const properties = kind?.schema?.['properties']
  const spec = isJsonObject(properties) ? properties['spec'] : undefined
  return isJsonObject(spec) ? spec : {}
}
