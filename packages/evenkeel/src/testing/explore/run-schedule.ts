/**
 * Runs one schedule from an empty world to its end, and gives what was found.
 */
import { SeededRandom } from '#base'
import { guardMachine } from '../escapes/guard.ts'
import { followNoRun } from '../life/began.ts'
import { watchBlocking } from '../escapes/blocked.ts'
import { followNobody } from '../life/life.ts'
import { allRules } from '../rules/index.ts'
import { World } from '../world/world.ts'
import type { WorldOptions } from '../world/world.ts'
import { catchUnhandled } from './unhandled.ts'

export async function runSchedule(
  options: Omit<WorldOptions, 'rules'> & Partial<Pick<WorldOptions, 'rules'>>,
): Promise<World> {
  const world = await World.open({ rules: allRules, ...options })
  const stopCatching = catchUnhandled((error) => {
    world.unhandled.push({ error })
  })
  const stopWatching = watchBlocking(options.scenario)
  const stopGuarding = guardMachine({
    isFollowed: options.reference === undefined,
    random: new SeededRandom(`${options.seed} machine`),
    onEscape: (escape) => {
      world.escapes.push(escape)
    },
    onExit: (from, code) => {
      const life = from ?? world.lives.findLast(({ isDead }) => !isDead)
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
    followNoRun()
    if (options.reference === undefined) followNobody()
    stopCatching()
  }
  return world
}
