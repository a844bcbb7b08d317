/**
 * Which deviations there are that do not hit one effect alone: who is away, what goes, who comes late.
 *
 * They last for a while, so one at the first and one at the last effect of each sort will do.
 */
import type { UnstructuredObject } from '#api'
import type { Interaction } from '../life/effect.ts'
import { isRelevant } from '../state/normalize.ts'
import type { World } from '../world/world.ts'
import type { Deviation, ObjectReference, SchedulePoint } from './deviation.ts'

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
