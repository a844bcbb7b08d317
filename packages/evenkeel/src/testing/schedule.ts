/**
 * Runs one schedule in a new world, and computes the reference that disturbed schedules are compared with.
 *
 * A schedule is the default order of events plus its deviations. While it runs, the globals of the machine are guarded,
 * a watchdog looks for a blocked event loop, and unhandled rejections become findings. All of that ends with the schedule.
 */
import { parseJson, type JsonValue } from '#api'
import { SeededRandom } from '#base'
import { guardMachine } from './escapes.ts'
import { startHangWatchdog } from './hang-watchdog.ts'
import { Masks } from './learned.ts'
import { otherNature, otherTime, type Variant } from './nature.ts'
import { stopTrackingRuns } from './observed-state.ts'
import { stopTrackingProcesses } from './process.ts'
import { Reference } from './reference.ts'
import { removalMethods } from './rules/deletion.ts'
import { allRules } from './rules/registry.ts'
import { widest } from './way.ts'
import { World, type WorldOptions } from './world.ts'

export async function runSchedule(
  options: Omit<WorldOptions, 'rules'> & Partial<Pick<WorldOptions, 'rules'>>,
): Promise<World> {
  const world = await World.open({ rules: allRules, ...options })
  const stopCatching = catchUnhandledRejections((error) => {
    world.unhandledRejections.push({ error })
  })
  const stopWatching = startHangWatchdog(options.scenario)
  const stopGuarding = guardMachine({
    isTracked: options.reference === undefined,
    random: new SeededRandom(`${options.seed} machine`),
    onEscape: (escape) => {
      world.escapes.push(escape)
    },
    onExit: (from, code) => {
      const proc = from ?? world.processes.findLast(({ isDead }) => !isDead)
      world.exits.push({ process: proc?.name ?? '', error: new Error(`process.exit(${String(code)}) was called`) })
      if (proc) world.kill(proc)
    },
  })
  try {
    await world.run()
  } finally {
    world.close()
    stopGuarding()
    stopWatching()
    stopTrackingRuns()
    if (options.reference === undefined) stopTrackingProcesses()
    stopCatching()
  }
  return world
}

/**
 * Catches unhandled rejections while a schedule runs: they are findings and must not end this process.
 *
 * Other listeners, such as those of a test runner, are detached for that time.
 */
function catchUnhandledRejections(listener: (error: unknown) => void): () => void {
  const others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', listener)
  return () => {
    process.removeListener('unhandledRejection', listener)
    for (const other of others) process.on('unhandledRejection', other)
  }
}

type ScheduleBase = Pick<WorldOptions, 'scenario' | 'initialState' | 'seed' | 'profile'>

/**
 * The quiet states of the undisturbed schedule, and what differs from them by nature. If the program asks for a requeue
 * after some time, also the quiet states with more time between the steps.
 *
 * @param first the undisturbed schedule of `base`, without masks
 */
export async function referenceOf(first: World, base: ScheduleBase): Promise<Reference> {
  if (first.nonConvergence) return new Reference(first.quietStates, { masks: new Masks() })
  const isTimed = first.processes.some(({ manager }) =>
    manager?.ledger.entries().some(({ end }) => end?.afterMs !== undefined),
  )
  const delayed = isTimed
    ? await runSchedule({ ...base, deviations: [{ at: { type: 'start', index: 0 }, action: { type: 'wait' } }] })
    : undefined
  const { masks, worlds } = await learnMasks(first, base)
  return new Reference(first.quietStates, {
    masks,
    way: widest([first, ...worlds, ...(delayed ? [delayed] : [])].map(({ facts }) => facts.wayWith(masks))),
    rests: first.restStates,
    ...(delayed && { delayed: delayed.quietStates }),
  })
}

/** What the variants show: what differs by nature, and their ways. */
interface Learned {
  readonly masks: Masks
  readonly worlds: readonly World[]
}

/** Runs the variants. One in which the program fails has not the nature of the first schedule: nothing is learned from it. */
async function learnMasks(first: World, base: ScheduleBase): Promise<Learned> {
  const [masks, worlds] = [new Masks(), [] as World[]]
  const learnFrom = async (variant: Variant): Promise<boolean> => {
    const world = await runSchedule({ ...base, deviations: [], variant })
    if (world.nonConvergence || world.stepErrors.length > 0 || failuresIn(world) > failuresIn(first)) return false
    worlds.push(world)
    for (const [index, state] of first.quietStates.entries()) {
      const other = world.quietStates[index]
      if (other?.phase === state.phase) masks.learn(state, other, { external: world.others })
    }
    return true
  }
  await learnFrom(otherNature)
  if (first.farTimers.leaps > 0) await learnDue(first, { base, masks })
  const calls = first.interactions.flatMap(({ call, type, outcome, index }) =>
    call && type === 'effect' && outcome === 'done' && index >= 0 ? [call] : [],
  )
  if (calls.length === 0) return { masks, worlds }
  const additions = calls.filter(({ method }) => !removalMethods.test(method))
  const isLearned = await learnFrom({ ...otherNature, calls: { calls: additions, ...wordsOfUser(first) } })
  if (!isLearned) await learnFrom({ ...otherNature, calls: { calls } })
  return { masks, worlds }
}

/** Runs the variant in which only time is another one, and more becomes due. */
async function learnDue(first: World, { base, masks }: { base: ScheduleBase; masks: Masks }): Promise<void> {
  const world = await runSchedule({ ...base, deviations: [], variant: otherTime })
  if (world.nonConvergence || world.stepErrors.length > 0) return
  for (const [index, state] of first.quietStates.entries()) {
    const other = world.quietStates[index]
    if (other?.phase !== state.phase) continue
    masks.learnDue(state, other)
    masks.learn(state, other)
  }
}

function failuresIn({ logs }: World): number {
  return logs.filter(({ record }) => record.message.startsWith('reconcile failed')).length
}

/** The names of the objects of the user, and the texts in them. */
function wordsOfUser({ quietStates }: World): {
  readonly names: ReadonlySet<string>
  readonly values: ReadonlySet<string>
} {
  const [names, values] = [new Set<string>(), new Set<string>()]
  for (const { wishes } of quietStates)
    for (const [about, texts] of wishes) {
      const name = /^\S+ (?:[^/]+\/)?(.+)$/.exec(about)?.[1]
      if (name !== undefined) names.add(name)
      for (const value of texts.flatMap((text) => textsIn(parseJson(text) as JsonValue))) values.add(value)
    }
  return { names, values }
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap((inner) => textsIn(inner as JsonValue))
}
