/**
 * A number for the state of a world at every place where something could go wrong: what will follow from there.
 *
 * It covers what is stored, what is outside, what is on its way, which processes live and what still stands in their
 * way, without versions, uids and times. What a program keeps in its memory cannot be seen: two worlds with one number
 * are taken for the same because a right program keeps nothing there that matters.
 */
import { createHash } from 'node:crypto'
import type { UnstructuredObject } from '#api'
import type { DeviationAction, Interaction, SchedulePoint } from './deviation.ts'
import type { Rule } from './rules/rule.ts'
import { describeObject, normalizeValue } from './snapshot.ts'
import type { World } from './world.ts'

/** A place that a schedule came to. */
interface Fingerprint {
  /** How many places came before. */
  readonly order: number
  /** What was about to happen, or had happened. */
  readonly about: string
  readonly hash: string
}

/** The places of one schedule, by `placeKey`. */
export type Fingerprints = Map<string, Fingerprint>

export function schedulePointKey({ type, index, when = 'before' }: SchedulePoint): string {
  return `${when} ${type} ${index}`
}

/** Not a rule: it looks on like one, and finds nothing. */
export function fingerprintRule(prints: Fingerprints): Rule {
  return {
    code: 'fingerprint',
    says: 'nothing',
    watch(world) {
      const take = (place: SchedulePoint, about: string): void => {
        if (place.index >= 0 && !world.isHealed)
          prints.set(schedulePointKey(place), { order: prints.size, about, hash: fingerprintOf(world) })
      }
      const at = ({ type, index, about }: Interaction, when: 'before' | 'after'): void => {
        take({ type, index, when }, about)
      }
      return {
        before: (point) => {
          at(point, 'before')
        },
        done: (point) => {
          at(point, 'after')
        },
        quiet: ({ index, isLast }) => {
          if (!isLast) take({ type: 'quiet', index }, '')
        },
      }
    },
  }
}

function fingerprintOf(world: World): string {
  const { eventQueue, history, facts, processes, phase } = world
  const hash = createHash('sha1')
  const alive = processes.filter(({ isDead }) => !isDead)
  const failing = alive.map(
    ({ name, manager }) => `${roleOf(name)} ${(manager?.controllers ?? []).map(({ health }) => health.failing).join()}`,
  )
  hash.update(`${phase} ${failing.join()} ${lasting(world)}\n`)
  for (const object of history.objects.values()) hash.update(textOf(object, world))
  for (const [about, values] of facts.outside()) hash.update(`${about}=${values.join()}\n`)
  for (const { actor, type, about } of eventQueue.waiting)
    hash.update(`${roleOf(actor)} ${type} ${about.replace(/ \d+$/, '')}\n`)
  return hash.digest('base64')
}

/** Things of the server itself, and what changes all the time. */
const ignored: ReadonlySet<string> = new Set(['Event', 'Lease', 'CustomResourceDefinition', 'ServiceAccount'])
const texts = new WeakMap<UnstructuredObject, string>()

function textOf(object: UnstructuredObject, { history }: World): string {
  const known = texts.get(object)
  if (known !== undefined) return known
  const {
    metadata: { labels, annotations, finalizers, ownerReferences, deletionTimestamp, generation },
    ...rest
  } = object
  const text = ignored.has(object.kind)
    ? ''
    : `${describeObject(object)} ${JSON.stringify(normalizeValue({ ...rest, labels, annotations, finalizers, ownerReferences, deleting: deletionTimestamp !== undefined }, history, { generation }))}\n`
  texts.set(object, text)
  return text
}

/** `A` for `A2`: which life of a process it is makes no difference. */
function roleOf(actor: string): string {
  return actor.replace(/^([AB])\d+$/, '$1')
}

/** Over at once: what is left of these can be seen in the world. */
const momentary: ReadonlySet<DeviationAction['type']> = new Set([
  'crash',
  'refuse',
  'lose',
  'delete',
  'recreate',
  'touch',
  'drift',
  'neighbour',
  'finalize',
  'terminate',
  'past',
  'cut',
  'amend',
  'early',
  'vanish',
])

/** What still stands in the way at this moment: deeds whose effect goes on. */
function lasting({ options: { deviations } }: World): string {
  return deviations
    .filter(({ deed }) => !momentary.has(deed.type))
    .map(({ deed }) => JSON.stringify(deed))
    .join()
}
