/**
 * Plans the deviations that do not hit a single interaction: outages, deleted namespaces, late starts, changed specs.
 *
 * Such a fault lasts for a while. So one at the first and one at the last effect of each type is enough.
 *
 * Changes of a spec follow from its schema: every property gets other legal values, is removed if it is optional, and
 * takes its limits. After the change is reverted, the world must be as before. After the object is deleted, nothing that
 * belongs to it may remain.
 */
import { isJsonObject, type JsonObject, type JsonValue, type UnstructuredObject, stringifyJson } from '#api'
import type { Deviation, Interaction, SchedulePoint } from '../deviation.ts'
import { otherClient } from '../foreign-writes.ts'
import { objectReferenceOf, objectsAtQuiet, quietIndexesOf } from '../history.ts'
import { groupOf } from '../reference.ts'
import { isRelevant } from '../snapshot.ts'
import { stringsLike, stringsOf } from './values.ts'
import type { World } from '../world.ts'

const atStart: SchedulePoint = { type: 'start', index: 0 }

export function planWorldFaults(world: World, interactions: readonly Interaction[]): Deviation[] {
  const effects = interactions.filter(({ type, index }) => type === 'effect' && index >= 0)
  return [
    ...firstAndLastOf(effects).flatMap((interaction) => lastingFaults(interaction)),
    ...lateStarts(world),
    ...installedResources(world).map((resource): Deviation => ({ at: atStart, action: { type: 'absent', resource } })),
    ...writtenResources(effects).map((resource): Deviation => ({ at: atStart, action: { type: 'mutate', resource } })),
    ...quietFaults(world),
    ...(world.options.scenario.leaderElection
      ? [1.2, 0.85].map((rate): Deviation => ({ at: atStart, action: { type: 'skew', offsetMs: 0, rate } }))
      : []),
  ]
}

/** The first and the last effect of each verb and resource, or method. */
function firstAndLastOf(effects: readonly Interaction[]): Interaction[] {
  const found = new Map<string, Interaction>()
  for (const which of ['first', 'last']) {
    for (const interaction of which === 'first' ? effects : [...effects].reverse()) {
      const { requestInfo, call } = interaction
      const key = requestInfo
        ? `${which} ${requestInfo.verb} ${requestInfo.resource}/${requestInfo.subresource}`
        : `${which} ${call?.service ?? ''}.${call?.method ?? ''}`
      if (!found.has(key)) found.set(key, interaction)
    }
  }
  return [...new Set(found.values())]
}

function lastingFaults({ index, requestInfo, call }: Interaction): Deviation[] {
  const [at, after]: [SchedulePoint, SchedulePoint] = [
    { type: 'effect', index },
    { type: 'effect', index, when: 'after' },
  ]
  const slow: Deviation = { at: after, action: { type: 'slow' } }
  if (call) return [slow, { at, action: { type: 'outage', service: call.service } }]
  const found: Deviation[] = [
    slow,
    { at, action: { type: 'outage' } },
    { at, action: { type: 'refuse', status: 422, reason: 'Invalid' } },
    { at, action: { type: 'refuse', status: 503, reason: 'ServiceUnavailable' } },
  ]
  if (requestInfo && requestInfo.namespace !== '')
    found.push({ at, action: { type: 'evict', namespace: requestInfo.namespace } })
  return found
}

/** A program that starts late finds only the specs. */
function lateStarts({
  options: {
    scenario: { steps },
  },
}: World): Deviation[] {
  return steps.map((_, index): Deviation => ({ at: atStart, action: { type: 'late', steps: index + 1 } }))
}

/** Reconciled kinds that are not built in. */
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

/** Resources that the program creates or changes: a webhook may change them as well. */
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

/** Faults of quiet states that are planned once per object, namespace or external resource. */
function quietFaults(world: World): Deviation[] {
  const found = new Map<string, Deviation>()
  const add = (key: string, deviation: Deviation): void => {
    if (!found.has(key)) found.set(key, deviation)
  }
  for (const [index, step] of world.quietSteps.slice(0, -1).entries()) {
    const at: SchedulePoint = { type: 'quiet', index }
    const objects = liveObjectsAt(world, step)
    const hasParents = objects.some((object) => world.facts.state.isReconciled(object))
    for (const object of objects) {
      const reference = objectReferenceOf(object)
      if (world.facts.state.isWish(object))
        add(`poison ${object.kind}`, { at, action: { type: 'poison', object: reference } })
      else if (hasParents && isNeeded(object, world)) {
        add(`deprive ${object.kind} ${reference.name}`, { at, action: { type: 'deprive', object: reference } })
        add(`alter ${object.kind} ${reference.name}`, { at, action: { type: 'alter', object: reference } })
      }
      if (world.facts.state.isReconciled(object) && reference.namespace !== '')
        add(`evict ${index} ${reference.namespace}`, { at, action: { type: 'evict', namespace: reference.namespace } })
    }
    for (const [service, count] of externalCounts(world, index))
      for (let nth = 0; nth < Math.min(count, 2); nth++)
        add(`vanish ${index} ${service} ${nth}`, { at, action: { type: 'vanish', service, nth } })
  }
  return [...found.values()]
}

/** Whether another client created the object and the program watches its kind or has read it. */
function isNeeded(object: UnstructuredObject, world: World): boolean {
  if (
    (object.metadata.ownerReferences ?? []).length > 0 ||
    !isRelevant(object) ||
    world.facts.createdBy(object) !== otherClient
  )
    return false
  return (
    world.interactions.some(({ requestInfo }) => requestInfo?.isRead && requestInfo.name === object.metadata.name) ||
    world.processes.some(({ network }) =>
      [...network.watched].some((resource) => world.facts.kindOf(groupOf(object.apiVersion), resource) === object.kind),
    )
  )
}

/** How many resources each external service has in a quiet state. */
function externalCounts({ quietStates, services }: World, index: number): [string, number][] {
  return Object.keys(services).map((service) => [
    service,
    [...(quietStates[index]?.external ?? [])]
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

/** Other values of a property are left out; the first ones differ most. */
const perPropertyMax = 3

export function planSpecChanges(world: World): Deviation[] {
  const found = new Map<string, Deviation[]>()
  for (const index of quietIndexesOf(world)) {
    const reconciled = objectsAtQuiet(world, index).filter(
      (object) => world.facts.state.isWish(object) && object.metadata.deletionTimestamp === undefined,
    )
    const all = reconciled.flatMap((object) =>
      amendments(object, schemaOf(world, object)).map((spec) => ({ object, spec })),
    )
    for (const { object, spec } of all) {
      const key = `${object.kind} ${stringifyJson(spec)}`
      if (!found.has(key)) found.set(key, deviationsFor(object, spec, index))
    }
  }
  return [...found.values()].flat()
}

/** Change and revert; change and delete later; for a removed property also change and delete at once. */
function deviationsFor(object: UnstructuredObject, spec: JsonObject, index: number): Deviation[] {
  const at: SchedulePoint = { type: 'quiet', index }
  const action = { type: 'amend', object: objectReferenceOf(object), spec } as const
  return [
    { at, action: { ...action, then: 'back' } },
    { at, action: { ...action, then: 'later' } },
    ...(Object.values(spec).includes(null) ? [{ at, action: { ...action, then: 'delete' } } as const] : []),
  ]
}

/** Merge patches of the spec, each for one property. */
function amendments(object: UnstructuredObject, schema: JsonObject): JsonObject[] {
  const spec = isJsonObject(object['spec']) ? object['spec'] : {}
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  return Object.entries(properties).flatMap(([name, one]) => {
    const now = spec[name]
    const values = isJsonObject(one) ? [...otherValues(one, now)] : []
    if (now !== undefined && !required.includes(name)) values.unshift(null)
    return values
      .filter((value) => stringifyJson(value) !== stringifyJson(now))
      .slice(0, perPropertyMax)
      .map((value): JsonObject => ({ [name]: value }))
  })
}

/** Values that the schema allows, its limits first. */
function otherValues(
  {
    type,
    enum: choices,
    minimum,
    maximum,
    minLength,
    maxLength,
    pattern,
    format,
    items,
    additionalProperties,
    properties,
  }: JsonObject,
  now: JsonValue | undefined,
): readonly JsonValue[] {
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
      return otherTexts(typeof now === 'string' ? now : undefined, {
        pattern: typeof pattern === 'string' ? pattern : undefined,
        format: typeof format === 'string' ? format : undefined,
        minLength: typeof minLength === 'number' ? minLength : 0,
        maxLength: typeof maxLength === 'number' ? maxLength : Infinity,
      })
    case 'array':
      return otherLists(Array.isArray(now) ? now : [], items)
    case 'object':
      return otherMaps(isJsonObject(now) ? now : {}, { additionalProperties, properties })
    default:
      return []
  }
}

interface TextSchema {
  readonly pattern: string | undefined
  readonly format: string | undefined
  readonly minLength: number
  readonly maxLength: number
}

function otherTexts(now: string | undefined, { pattern, format, minLength, maxLength }: TextSchema): readonly string[] {
  const fits = ({ length }: string): boolean => length >= minLength && length <= maxLength
  if (pattern === undefined && format === undefined)
    return ['', `${now ?? 'some'}-other`, 'a'.repeat(Math.max(1, minLength))].filter(fits).slice(0, 2)
  if (pattern === undefined) return stringsOf(format ?? '', now).filter(fits)
  const expression = format === undefined ? undefined : new RegExp(pattern, 'u')
  return expression
    ? stringsOf(format ?? '', now).filter((text) => fits(text) && expression.test(text))
    : stringsLike(pattern, { now, minLength, maxLength })
}

/** A list with one more item, an empty one, and one with one item less. */
function otherLists(now: readonly JsonValue[], items: JsonValue | undefined): JsonValue[] {
  const isText =
    isJsonObject(items) && items['type'] === 'string' && items['enum'] === undefined && items['pattern'] === undefined
  return [
    ...(isText ? [[...now, 'some-other']] : []),
    ...(now.length > 0 ? [[]] : []),
    ...(now.length > 1 ? [now.slice(1)] : []),
  ]
}

/** A merge patch that adds an entry, or one per property that changes its value. */
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
