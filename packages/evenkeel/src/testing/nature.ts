/**
 * Variants: undisturbed schedules in which everything differs that a program must not depend on.
 *
 * A variant has other random numbers and uids, begins at another time, at a later resource version, and with objects of
 * the user in a later generation. In a second variant the external services were used before: others have made the same
 * calls under other names, so counters have advanced and addresses are taken. What differs from the first schedule then
 * differs by nature (learned.ts).
 *
 * Invariant: the steps of the user are the same in every variant, so a value of the user never differs.
 */
import { isJsonObject, type JsonValue } from '#api'
import { flushPromises, SimulatedClock, type Cancel, type Clock } from '#base'
import type { Store, Write } from '#store'
import type { ExternalCall } from './deviation.ts'
import { FarTimers } from './far-timers.ts'
import { waitOf, type Scenario } from './scenario.ts'
import type { Snapshot } from './snapshot.ts'
import { externalResources } from './world-state.ts'
import type { WorldOptions } from './world.ts'

export interface Variant {
  /** Part of the seeds of the program and of the server. @default the seeds of the first schedule */
  readonly seed?: string
  /** How much later the schedule begins. */
  readonly laterMs: number
  /** How many commits the store has had before. */
  readonly revisions: number
  /** How many generations the objects of the user have had before; the sum has one digit. */
  readonly generations: number
  /** What others have called before. */
  readonly calls?: EarlierCalls
  /** How often each far timer is waited for in a step. @default once */
  readonly timers?: number
}

interface EarlierCalls {
  readonly calls: readonly ExternalCall[]
  /** Names of the user: in earlier calls they are others. Without them the calls are repeated as they were. */
  readonly names?: ReadonlySet<string>
  /** Texts of the user: in earlier calls they are others as well, unless the service refuses that. */
  readonly values?: ReadonlySet<string>
}

/** Another day of the week, hour, minute and second. */
const laterMs = ((37 * 24 + 5) * 60 + 23) * 60_000 + 41_000

export const otherNature: Variant = { seed: 'other', laterMs, revisions: 90, generations: 3 }

/** Only time is another one, and more becomes due: what differs then depends on time. */
export const otherTime: Variant = { laterMs, revisions: 0, generations: 0, timers: 2 }

/** The seed of a variant. */
export function seedOf({ seed, variant }: Pick<WorldOptions, 'seed' | 'variant'>): string {
  return variant?.seed === undefined ? seed : `${seed} ${variant.seed}`
}

export interface Surroundings {
  readonly seed: string
  readonly clock: SimulatedClock
  readonly farTimers: FarTimers
  readonly store: Store
  readonly services: object
  /** What others have in the services. */
  readonly others: Snapshot
}

/** The clock, the store and the services of a world. @param isUser whether the current actor is the user */
export async function openSurroundings(
  { variant, scenario, initialState, seed }: Pick<WorldOptions, 'variant' | 'scenario' | 'initialState' | 'seed'>,
  isUser: () => boolean,
): Promise<Surroundings> {
  const clock = new SimulatedClock({ startMs: initialState.startMs + (variant?.laterMs ?? 0), isPure: true })
  const store = await initialState.open(clock)
  const { quietMs = 30_000 } = scenario
  const farTimers = new FarTimers({
    clock,
    nearMs: quietMs,
    times: timesOf(scenario) && (variant?.timers ?? timesOf(scenario)),
  })
  const unused = (): object => scenario.external?.({ clock: farTimers.clockFor(clock) }) ?? {}
  if (!variant) return { seed, clock, farTimers, store, services: unused(), others: new Map() }
  await advanceRevisions(store, variant)
  const { calls: earlier } = variant
  const services = earlier ? await usedServices(scenario, { clock: farTimers.clockFor(clock), earlier }) : unused()
  return {
    seed: seedOf({ seed, variant }),
    clock,
    farTimers,
    store: withGenerations(store, variant, isUser),
    services,
    others: earlier ? externalResources(services, { scenario, naming: { nameOf: () => undefined } }) : new Map(),
  }
}

/** How often far timers are waited for in a step: a scenario that waits itself says when time passes. */
function timesOf({ steps, timers }: Scenario): number {
  return timers ?? (steps.some((step) => waitOf(step) > 0) ? 0 : 1)
}

/** Commits until the store is at a later revision. */
async function advanceRevisions(store: Store, { revisions }: Variant): Promise<void> {
  if (revisions === 0) return
  const key = '/earlier'
  let expect = 0
  for (let count = 1; count < revisions; count++) {
    const result = await store.commit({ key, expect, value: Buffer.from('{}') })
    if (result.ok) expect = result.revision
  }
  await store.commit({ key, expect })
}

/** The store; what users create in it has had generations before. */
function withGenerations(store: Store, { generations }: Variant, isUser: () => boolean): Store {
  const aged = (write: Write): Write => {
    if (write.expect !== 0 || write.value === undefined || !isUser()) return write
    const text = Buffer.from(write.value).toString('latin1')
    // One digit for another: places in the value stay where they are.
    const value = Buffer.from(text.replace(/"generation":1(?=[,}])/, `"generation":${1 + generations}`), 'latin1')
    return { ...write, value }
  }
  return new Proxy(store, {
    get(target, property) {
      if (property === 'commit') return (write: Write, options?: object) => target.commit(aged(write), options)
      if (property === 'commitAll')
        return (writes: readonly Write[], options?: object) => target.commitAll(writes.map(aged), options)
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value
    },
  })
}

/** How long the services have existed before. */
const earlierMs = 10 * 60_000

/** The external services of a scenario, after others have called them. */
async function usedServices(
  { external }: Pick<Scenario, 'external'>,
  { clock, earlier: { calls, names, values } }: { clock: Clock; earlier: EarlierCalls },
): Promise<object> {
  const before = new SimulatedClock({ startMs: clock.now() - earlierMs, isPure: true })
  const service = new SuccessiveClock(before)
  const services = external?.({ clock: service }) ?? {}
  for (const call of calls) {
    for (const one of names ? [othersCall(call, names, { values }), othersCall(call, names)] : [call])
      if (await isAnswered(services, one, before)) break
  }
  await before.advance(earlierMs - before.monotonic())
  service.continueOn(clock)
  return services
}

/** Whether the service accepts the call. */
async function isAnswered(
  services: object,
  { service, method, parameters }: ExternalCall,
  clock: SimulatedClock,
): Promise<boolean> {
  const target = (services as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>)[service]
  const execute = target?.[method]
  if (typeof execute !== 'function') return false
  let isDone = false
  const call = async (): Promise<void> => {
    await (execute.apply(target, parameters) as unknown)
    isDone = true
  }
  call().catch(() => undefined)
  await clock.advance(1000)
  await flushPromises()
  return isDone
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** The same call for objects of others. */
function othersCall(
  { parameters, ...call }: ExternalCall,
  names: ReadonlySet<string>,
  { values }: { values?: ReadonlySet<string> | undefined } = {},
): ExternalCall {
  const name = wordPattern(names)
  const renamed = (text: string): string =>
    values?.has(text) ? `${text}-earlier` : text.replace(uuid, otherUid).replace(name, (word) => `${word}-earlier`)
  const change = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return renamed(value)
    if (Array.isArray(value)) return value.map(change)
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, change(inner ?? null)]))
  }
  return { ...call, parameters: parameters.map((value) => change(value as JsonValue)) }
}

function otherUid(uid: string): string {
  return uid.replace(/[0-9a-f]/g, (digit) => (15 - parseInt(digit, 16)).toString(16))
}

/** Any of these words, as a whole word. */
function wordPattern(words: ReadonlySet<string>): RegExp {
  const escaped = [...words]
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return escaped.length === 0 ? /$^/g : new RegExp(`(?<![A-Za-z\\d])(?:${escaped.join('|')})(?![A-Za-z\\d])`, 'g')
}

/** A clock that continues on another one. */
class SuccessiveClock implements Clock {
  #clock: Clock
  #passedMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  continueOn(clock: Clock): void {
    this.#passedMs = this.monotonic() - clock.monotonic()
    this.#clock = clock
  }

  now(): number {
    return this.#clock.now()
  }

  monotonic(): number {
    return this.#passedMs + this.#clock.monotonic()
  }

  after(delayMs: number, callback: () => void): Cancel {
    return this.#clock.after(delayMs, callback)
  }

  soon(callback: () => void): void {
    this.#clock.soon(callback)
  }
}
