/**
 * `npm start`: from a fresh clone to a control plane with two programs, without other steps.
 *
 * Installs packages and builds when needed. Then:
 *
 *   npm start                              evenkeel up with the shapes demo and app-route; objects stay in ./data
 *   npm start -- --port 0 --data FOLDER    the same, with options of `evenkeel up`
 *   npm start -- serve ...                 any other command of `evenkeel`: the API server alone
 *   npm start -- snapshot save FILE        a backup of its objects
 *
 * Ctrl-C goes to the program, which stops gracefully.
 */
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureOrExit } from './ensure.mjs'
import { endAs, runForeground } from './run.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const demos = ['shapes', 'app-route'].map((name) => relative(process.cwd(), join(root, 'examples', name, 'main.ts')))

// More room for short-lived objects, which every request creates: 10 to 15 % less CPU time per request than with
// the default 16 MiB, measured on Node 20 at 64 connections. It is used only under load.
const serveFlags = ['--max-semi-space-size=64']

await ensureOrExit()
// Loaded after the installation: building needs packages.
const { buildAll, commandFile, isStale } = await import('./build.mjs')
if (await buildIfNeeded())
  endAs(await runForeground([...serveFlags, commandFile, ...commandFor(process.argv.slice(2))]))

/** Options without a command are options of `up`. */
function commandFor(given) {
  return given.length === 0 || given[0].startsWith('-') ? ['up', ...demos, ...given] : given
}

async function buildIfNeeded() {
  if (!isStale()) return true
  console.error('Building ...')
  try {
    await buildAll()
    return true
  } catch (error) {
    console.error(`Error: ${error.message}`)
    process.exitCode = 1
    return false
  }
}
