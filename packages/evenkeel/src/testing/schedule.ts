/**
 * Runs one schedule from an empty world to its end, and gives what was found.
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
    world.unhandled.push({ error })
  })
  const stopWatching = startHangWatchdog(options.scenario)
  const stopGuarding = guardMachine({
    isFollowed: options.reference === undefined,
    random: new SeededRandom(`${options.seed} machine`),
    onEscape: (escape) => {
      world.escapes.push(escape)
    },
    onExit: (from, code) => {
      const life = from ?? world.processes.findLast(({ isDead }) => !isDead)
      world.ends.push({ life: life?.name ?? '', error: new Error(`process.exit(${String(code)}) was called`) })
      if (life) world.kill(life)
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
 * Catches rejections that nobody listens to while a schedule runs: they are findings, not the end of this process.
 *
 * Whoever else listens (a test runner) is put aside meanwhile.
 */
function catchUnhandledRejections(heard: (error: unknown) => void): () => void {
  const others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', heard)
  return () => {
    process.removeListener('unhandledRejection', heard)
    for (const other of others) process.on('unhandledRejection', other)
  }
}

/*
 * What the undisturbed schedule came to, what time alone makes of it for a program that looks at the clock, and what
 * chance alone does.
 */

/** @param first the undisturbed schedule of `base` */
export async function referenceOf(
  first: World,
  base: Pick<WorldOptions, 'scenario' | 'initialState' | 'seed' | 'profile'>,
): Promise<Reference> {
  const isTimed = first.processes.some(({ manager }) =>
    manager?.ledger.entries().some(({ end }) => end?.afterMs !== undefined),
  )
  const patient =
    isTimed && !first.nonConvergence
      ? await runSchedule({ ...base, deviations: [{ at: { type: 'start', index: 0 }, deed: { type: 'wait' } }] })
      : undefined
  const lucky = first.nonConvergence ? undefined : await runSchedule({ ...base, deviations: [], chance: 'other' })
  return new Reference(first.quietStates, {
    ...(patient && { patient: patient.quietStates }),
    ...(lucky && { lucky: lucky.quietStates }),
  })
}
