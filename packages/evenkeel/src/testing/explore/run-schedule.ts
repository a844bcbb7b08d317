/**
 * Runs one schedule from an empty world to its end, and gives what was found.
 */
import { allRules } from '../rules/index.ts'
import { World } from '../world/world.ts'
import type { WorldOptions } from '../world/world.ts'
import { catchUnhandled } from './unhandled.ts'

export async function runSchedule(options: Omit<WorldOptions, 'rules'> & Partial<Pick<WorldOptions, 'rules'>>): Promise<World> {
  const world = await World.open({ rules: allRules, ...options })
  const stopCatching = catchUnhandled((error) => { world.unhandled.push({ error }) })
  try {
    await world.run()
  } finally {
    await world.close()
    stopCatching()
  }
  return world
}
