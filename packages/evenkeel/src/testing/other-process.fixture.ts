/**
 * A program for tests: explores a module or replays a file in its own process, and prints the result as JSON.
 *
 * `explore MODULE CORES TIER`, `replay FILE`
 */
import { exploreModule } from './explore-module.ts'
import { replayFile } from './replay.ts'

const [command = '', file = '', cores = '1', tier = '1'] = process.argv.slice(2)

async function run(): Promise<unknown> {
  if (command === 'replay') return await replayFile(file)
  const { ms: _, ...explored } = await exploreModule(file, {
    cores: Number(cores),
    tier: Number(tier) as 1 | 2,
    schedulesMax: 90,
    stories: 1,
  })
  return explored
}

process.stdout.write(JSON.stringify(await run()))
