/**
 * Which deviations there are that do not hit one effect alone: who is away, what goes, who comes late.
 *
 * They last for a while, so one at the first and one at the last effect of each sort will do.
 */
import { isJsonObject, type JsonObject, type JsonValue, type UnstructuredObject } from '#api'
import type { Deviation, Interaction, ObjectReference, SchedulePoint } from './deviation.ts'
import { objectReferenceOf, objectsAtQuiet, quietIndexesOf } from './history.ts'
import { isRelevant } from './snapshot.ts'
import type { World } from './world.ts'

const atStart: SchedulePoint = { type: 'start', index: 0 }

export function planWorldFaults(world: World, points: readonly Interaction[]): Deviation[] {
  const effects = points.filter(({ type, index }) => type === 'effect' && index >= 0)
  return [
    ...firstAndLastOf(effects).flatMap((point) => lastingFaults(point)),
    ...lateStarts(world),
    ...installedResources(world).map((resource): Deviation => ({ at: atStart, deed: { type: 'absent', resource } })),
    ...writtenResources(effects).map((resource): Deviation => ({ at: atStart, deed: { type: 'mutate', resource } })),
    ...quietFaults(world),
    ...(world.options.scenario.leaderElection
      ? [1.2, 0.85].map((rate): Deviation => ({ at: atStart, deed: { type: 'skew', offsetMs: 0, rate } }))
      : []),
  ]
}

/** The first and the last effect of each sort. */
function firstAndLastOf(effects: readonly Interaction[]): Interaction[] {
  const found = new Map<string, Interaction>()
  for (const which of ['first', 'last']) {
    for (const point of which === 'first' ? effects : [...effects].reverse()) {
      const { requestInfo, call } = point
      const key = requestInfo
        ? `${which} ${requestInfo.verb} ${requestInfo.resource}/${requestInfo.subresource}`
        : `${which} ${call?.service ?? ''}.${call?.method ?? ''}`
      if (!found.has(key)) found.set(key, point)
    }
  }
  return [...new Set(found.values())]
}

function lastingFaults({ index, requestInfo, call }: Interaction): Deviation[] {
  const [at, after]: [SchedulePoint, SchedulePoint] = [
    { type: 'effect', index },
    { type: 'effect', index, when: 'after' },
  ]
  const slow: Deviation = { at: after, deed: { type: 'slow' } }
  if (call) return [slow, { at, deed: { type: 'outage', service: call.service } }]
  const found: Deviation[] = [
    slow,
    { at, deed: { type: 'outage' } },
    { at, deed: { type: 'refuse', status: 422, reason: 'Invalid' } },
    { at, deed: { type: 'refuse', status: 503, reason: 'ServiceUnavailable' } },
  ]
  if (requestInfo && requestInfo.namespace !== '')
    found.push({ at, deed: { type: 'evict', namespace: requestInfo.namespace } })
  return found
}

/** Whoever starts late finds the wishes and nothing else. */
function lateStarts({
  options: {
    scenario: { steps },
  },
}: World): Deviation[] {
  return steps.map((_, index): Deviation => ({ at: atStart, deed: { type: 'late', steps: index + 1 } }))
}

/** Kinds of the program that are no part of every server. */
function installedResources({
  facts: {
    state: { declarations },
  },
}: World): string[] {
  return [
    ...new Set(
      declarations
        .map((declaration) => declaration.for)
        .filter(({ schema }) => schema !== undefined)
        .map(({ plural }) => plural),
    ),
  ]
}

/** Resources that the program writes; there, somebody else may have a say. */
function writtenResources(effects: readonly Interaction[]): string[] {
  return [
    ...new Set(
      effects.flatMap(({ requestInfo }) =>
        requestInfo &&
        requestInfo.subresource === '' &&
        (requestInfo.verb === 'create' || requestInfo.verb === 'update' || requestInfo.verb === 'patch')
          ? [requestInfo.resource]
          : [],
      ),
    ),
  ]
}

/** What can go, or be there, while everything rests; once for each thing. */
function quietFaults(world: World): Deviation[] {
  const found = new Map<string, Deviation>()
  const put = (key: string, deviation: Deviation): void => {
    if (!found.has(key)) found.set(key, deviation)
  }
  for (const [index, step] of world.quietSteps.slice(0, -1).entries()) {
    const at: SchedulePoint = { type: 'quiet', index }
    const objects = liveObjectsAt(world, step)
    const hasParents = objects.some((object) => world.facts.state.isReconciled(object))
    for (const object of objects) {
      const place = referenceTo(object)
      if (world.facts.state.isReconciled(object))
        put(`poison ${object.kind}`, { at, deed: { type: 'poison', object: place } })
      else if (hasParents && isNeeded(object, world))
        put(`deprive ${object.kind} ${place.name}`, { at, deed: { type: 'deprive', object: place } })
      if (world.facts.state.isReconciled(object) && place.namespace !== '')
        put(`evict ${index} ${place.namespace}`, { at, deed: { type: 'evict', namespace: place.namespace } })
    }
    for (const [service, count] of externalCounts(world, index))
      for (let nth = 0; nth < Math.min(count, 2); nth++)
        put(`vanish ${index} ${service} ${nth}`, { at, deed: { type: 'vanish', service, nth } })
  }
  return [...found.values()]
}

/** Somebody else made it, and the program watches its kind or has read it. */
function isNeeded(object: UnstructuredObject, world: World): boolean {
  if (
    (object.metadata.ownerReferences ?? []).length > 0 ||
    !isRelevant(object) ||
    world.facts.createdBy(object) !== 'somebody'
  )
    return false
  return (
    world.interactions.some(({ requestInfo }) => requestInfo?.isRead && requestInfo.name === object.metadata.name) ||
    world.processes.some(({ network: line }) =>
      [...line.watched].some((resource) => world.facts.kindOf(groupOf(object), resource) === object.kind),
    )
  )
}

/** How many things there are in each service. */
function externalCounts({ quietStates: rests, services }: World, index: number): [string, number][] {
  return Object.keys(services).map((service) => [
    service,
    [...(rests[index]?.outside ?? [])]
      .filter(([about]) => about.startsWith(`${service} `))
      .reduce((sum, [, values]) => sum + values.length, 0),
  ])
}

function liveObjectsAt({ history }: World, step: number): UnstructuredObject[] {
  const now = new Map<string, UnstructuredObject>()
  for (const { step: when, key, after } of history.events) {
    if (when > step) break
    if (after) now.set(key, after)
    else now.delete(key)
  }
  return [...now.values()].filter(({ metadata }) => metadata.deletionTimestamp === undefined)
}

function referenceTo({
  apiVersion,
  kind,
  metadata: { name = '', namespace = '' },
}: UnstructuredObject): ObjectReference {
  return { apiVersion, kind, namespace, name }
}

function groupOf({ apiVersion }: UnstructuredObject): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}

/*
 * What a user may ask for beside what the scenario does: every property of a spec otherwise, gone, at its edge; and back.
 *
 * The schema says what is allowed. When a wish is taken back, everything must be as it was; when its object is
 * deleted before anybody could look, everything of it must go.
 */

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
