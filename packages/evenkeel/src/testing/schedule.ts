/**
 * Runs one schedule in a new world, and computes the reference that disturbed schedules are compared with.
 *
 * A schedule is the default order of events plus its deviations. While it runs, the globals of the machine are guarded,
 * a watchdog looks for a blocked event loop, and unhandled rejections become findings. All of that ends with the schedule.
 */
import { SeededRandom } from '#base'
import { guardMachine } from './escapes.ts'
import { startHangWatchdog } from './hang-watchdog.ts'
import { stopTrackingRuns } from './observed-state.ts'
import { stopTrackingProcesses } from './process.ts'
import { Reference } from './reference.ts'
import { allRules } from './rules/registry.ts'
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

/**
 * The quiet states of the undisturbed schedule, plus two variants: with more time between the steps, if the program asks
 * for a requeue after some time, and with other random numbers.
 *
 * @param first the undisturbed schedule of `base`
 */
export async function referenceOf(
  first: World,
  base: Pick<WorldOptions, 'scenario' | 'initialState' | 'seed' | 'profile'>,
): Promise<Reference> {
  const isTimed = first.processes.some(({ manager }) =>
    manager?.ledger.entries().some(({ end }) => end?.afterMs !== undefined),
  )
  const delayed =
    isTimed && !first.nonConvergence
      ? await runSchedule({ ...base, deviations: [{ at: { type: 'start', index: 0 }, action: { type: 'wait' } }] })
      : undefined
  const reseeded = first.nonConvergence
    ? undefined
    : await runSchedule({ ...base, deviations: [], randomVariant: 'other' })
  return new Reference(first.quietStates, {
    ...(delayed && { delayed: delayed.quietStates }),
    ...(reseeded && { reseeded: reseeded.quietStates }),
  })
}
