/**
 * A hash of the state of a world at every schedule point: two points with the same hash have the same future.
 *
 * The hash covers the stored objects, the external services, the event queue, the running processes and the faults that
 * are active, without versions, uids and times. It cannot see the memory of a program: two worlds with one hash count as
 * the same, because a correct program keeps nothing in memory that matters.
 */
import { stringifyJson } from '#api'
import { createHash } from 'node:crypto'
import type { UnstructuredObject } from '#api'
import { schedulePointKey, type DeviationAction, type Interaction, type SchedulePoint } from './deviation.ts'
import type { Rule, RuleContext } from './rules/rule.ts'
import { describeObject, normalizeValue } from './snapshot.ts'

/** A schedule point that a schedule reached. */
interface Fingerprint {
  /** How many points came before. */
  readonly order: number
  /** The interaction at this point. */
  readonly about: string
  readonly hash: string
}

/** The points of one schedule, by `schedulePointKey`. */
export type Fingerprints = Map<string, Fingerprint>

/** Observes a world as a rule does and has no findings. */
export function fingerprintRule(fingerprints: Fingerprints): Rule {
  return {
    code: 'fingerprint',
    says: 'no finding',
    watch(world) {
      const take = (point: SchedulePoint, about: string): void => {
        if (point.index >= 0 && !world.isHealed)
          fingerprints.set(schedulePointKey(point), { order: fingerprints.size, about, hash: fingerprintOf(world) })
      }
      const at = ({ type, index, about }: Interaction, when: 'before' | 'after'): void => {
        take({ type, index, when }, about)
      }
      return {
        before: (interaction) => {
          at(interaction, 'before')
        },
        done: (interaction) => {
          at(interaction, 'after')
        },
        quiet: ({ index, isLast }) => {
          if (!isLast) take({ type: 'quiet', index }, '')
        },
      }
    },
  }
}

function fingerprintOf(world: RuleContext): string {
  const { eventQueue, history, facts, processes, phase } = world
  const hash = createHash('sha1')
  const alive = processes.filter(({ isDead }) => !isDead)
  const failing = alive.map(
    ({ name, manager }) => `${roleOf(name)} ${(manager?.controllers ?? []).map(({ health }) => health.failing).join()}`,
  )
  hash.update(`${phase} ${failing.join()} ${lasting(world)}\n`)
  for (const object of history.objects.values()) hash.update(textOf(object, world))
  for (const [about, values] of facts.external()) hash.update(`${about}=${values.join()}\n`)
  for (const { actor, type, about } of eventQueue.waiting)
    hash.update(`${roleOf(actor)} ${type} ${about.replace(/ \d+$/, '')}\n`)
  return hash.digest('base64')
}

/** Objects of the server itself, and objects that change all the time. */
const ignored: ReadonlySet<string> = new Set(['Event', 'Lease', 'CustomResourceDefinition', 'ServiceAccount'])
const texts = new WeakMap<UnstructuredObject, string>()

function textOf(object: UnstructuredObject, { history }: RuleContext): string {
  const known = texts.get(object)
  if (known !== undefined) return known
  const {
    metadata: { labels, annotations, finalizers, ownerReferences, deletionTimestamp, generation },
    ...rest
  } = object
  const text = ignored.has(object.kind)
    ? ''
    : `${describeObject(object)} ${stringifyJson(normalizeValue({ ...rest, labels, annotations, finalizers, ownerReferences, deleting: deletionTimestamp !== undefined }, history, { generation }))}\n`
  texts.set(object, text)
  return text
}

/** `A` for `A2`: how often a process has restarted makes no difference. */
function roleOf(actor: string): string {
  return actor.replace(/^([AB])\d+$/, '$1')
}

/** Actions without a lasting fault: the state of the world shows their effect. */
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
  'alter',
  'early',
  'vanish',
])

/** The actions whose fault may still be active. */
function lasting({ options: { deviations } }: RuleContext): string {
  return deviations
    .filter(({ action }) => !momentary.has(action.type))
    .map(({ action }) => stringifyJson(action))
    .join()
}
