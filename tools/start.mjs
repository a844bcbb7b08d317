/**
 * `npm start`: from a fresh clone to the running demonstration, with nothing before it.
 *
 * Installs packages and builds when needed, then runs tools/demo.ts with the arguments given
 * (`npm start -- --help`). Ctrl-C goes to the demonstration, which stops clean.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureOrExit } from './ensure.mjs'
import { build, isStale } from './build.mjs'
import { endAs, runForeground, sourceArguments } from './run.mjs'

const demo = join(dirname(fileURLToPath(import.meta.url)), 'demo.ts')

await ensureOrExit()
if (buildIfNeeded()) await runDemo()

function buildIfNeeded() {
  if (!isStale()) return true
  console.error('Building ...')
  try {
    build()
    return true
  } catch (error) {
    console.error(`Error: ${error.message}`)
    process.exitCode = 1
    return false
  }
}

async function runDemo() {
  if (!existsSync(demo)) {
    console.error('Error: tools/demo.ts is missing from this clone')
    process.exitCode = 1
    return
  }
  endAs(await runForeground([...sourceArguments(demo), ...process.argv.slice(2)]))
}
