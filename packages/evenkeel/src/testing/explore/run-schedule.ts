/**
 * Runs one schedule from an empty world to its end, and gives what was found.
 */
import { SeededRandom } from '#base'
import { guardMachine } from '../escapes/guard.ts'
import { stopTrackingRuns } from '../life/began.ts'
import { startHangWatchdog } from '../escapes/blocked.ts'
import { stopTrackingProcesses } from '../life/life.ts'
import { allRules } from '../rules/index.ts'
import { World } from '../world/world.ts'
import type { WorldOptions } from '../world/world.ts'
import { catchUnhandledRejections } from './unhandled.ts'

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
