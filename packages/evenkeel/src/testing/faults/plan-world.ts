/**
 * Which deviations there are that do not hit one effect alone: who is away, what goes, who comes late.
 *
 * They last for a while, so one at the first and one at the last effect of each sort will do.
 */
import type { UnstructuredObject } from '#api'
import type { Point } from '../life/effect.ts'
import { isWished } from '../state/normalize.ts'
import type { World } from '../world/world.ts'
import type { Deviation, ObjectPlace, Place } from './deviation.ts'

const start: Place = { type: 'start', index: 0 }

export function planWorld(world: World, points: readonly Point[]): Deviation[] {
  const effects = points.filter(({ type, index }) => type === 'effect' && index >= 0)
  return [
    ...ends(effects).flatMap((point) => lasting(point)),
    ...late(world),
    ...installed(world).map((resource): Deviation => ({ at: start, deed: { type: 'absent', resource } })),
    ...made(effects).map((resource): Deviation => ({ at: start, deed: { type: 'mutate', resource } })),
    ...resting(world),
    ...(world.options.scenario.leaderElection
      ? [1.2, 0.85].map((rate): Deviation => ({ at: start, deed: { type: 'skew', offsetMs: 0, rate } }))
      : []),
  ]
}

/** The first and the last effect of each sort. */
function ends(effects: readonly Point[]): Point[] {
  const found = new Map<string, Point>()
  for (const which of ['first', 'last']) {
    for (const point of which === 'first' ? effects : [...effects].reverse()) {
      const { asked, call } = point
      const key = asked
        ? `${which} ${asked.verb} ${asked.resource}/${asked.subresource}`
        : `${which} ${call?.service ?? ''}.${call?.method ?? ''}`
      if (!found.has(key)) found.set(key, point)
    }
  }
  return [...new Set(found.values())]
}

function lasting({ index, asked, call }: Point): Deviation[] {
  const [at, after]: [Place, Place] = [
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
  if (asked && asked.namespace !== '') found.push({ at, deed: { type: 'evict', namespace: asked.namespace } })
  return found
}

/** Whoever starts late finds the wishes and nothing else. */
function late({
  options: {
    scenario: { steps },
  },
}: World): Deviation[] {
  return steps.map((_, index): Deviation => ({ at: start, deed: { type: 'late', steps: index + 1 } }))
}

/** Kinds of the program that are no part of every server. */
function installed({
  facts: {
    view: { declarations },
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
function made(effects: readonly Point[]): string[] {
  return [
    ...new Set(
      effects.flatMap(({ asked }) =>
        asked &&
        asked.subresource === '' &&
        (asked.verb === 'create' || asked.verb === 'update' || asked.verb === 'patch')
          ? [asked.resource]
          : [],
      ),
    ),
  ]
}

/** What can go, or be there, while everything rests; once for each thing. */
function resting(world: World): Deviation[] {
  const found = new Map<string, Deviation>()
  const put = (key: string, deviation: Deviation): void => {
    if (!found.has(key)) found.set(key, deviation)
  }
  for (const [index, step] of world.restSteps.slice(0, -1).entries()) {
    const at: Place = { type: 'quiet', index }
    const objects = objectsAt(world, step)
    const hasParents = objects.some((object) => world.facts.view.isReconciled(object))
    for (const object of objects) {
      const place = placeOf(object)
      if (world.facts.view.isReconciled(object))
        put(`poison ${object.kind}`, { at, deed: { type: 'poison', object: place } })
      else if (hasParents && isNeeded(object, world))
        put(`deprive ${object.kind} ${place.name}`, { at, deed: { type: 'deprive', object: place } })
      if (world.facts.view.isReconciled(object) && place.namespace !== '')
        put(`evict ${index} ${place.namespace}`, { at, deed: { type: 'evict', namespace: place.namespace } })
    }
    for (const [service, count] of outside(world, index))
      for (let nth = 0; nth < Math.min(count, 2); nth++)
        put(`vanish ${index} ${service} ${nth}`, { at, deed: { type: 'vanish', service, nth } })
  }
  return [...found.values()]
}

/** Somebody else made it, and the program watches its kind or has read it. */
function isNeeded(object: UnstructuredObject, world: World): boolean {
  if (
    (object.metadata.ownerReferences ?? []).length > 0 ||
    !isWished(object) ||
    world.facts.madeBy(object) !== 'somebody'
  )
    return false
  return (
    world.points.some(({ asked }) => asked?.isRead && asked.name === object.metadata.name) ||
    world.lives.some(({ line }) =>
      [...line.watched].some((resource) => world.facts.kindOf(groupOf(object), resource) === object.kind),
    )
  )
}

/** How many things there are in each service. */
function outside({ rests, services }: World, index: number): [string, number][] {
  return Object.keys(services).map((service) => [
    service,
    [...(rests[index]?.outside ?? [])]
      .filter(([about]) => about.startsWith(`${service} `))
      .reduce((sum, [, values]) => sum + values.length, 0),
  ])
}

function objectsAt({ chronicle }: World, step: number): UnstructuredObject[] {
  const now = new Map<string, UnstructuredObject>()
  for (const { step: when, key, after } of chronicle.happenings) {
    if (when > step) break
    if (after) now.set(key, after)
    else now.delete(key)
  }
  return [...now.values()].filter(({ metadata }) => metadata.deletionTimestamp === undefined)
}

function placeOf({ apiVersion, kind, metadata: { name = '', namespace = '' } }: UnstructuredObject): ObjectPlace {
  return { apiVersion, kind, namespace, name }
}

function groupOf({ apiVersion }: UnstructuredObject): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}
