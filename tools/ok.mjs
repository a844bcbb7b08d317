/**
 * The gate before a change is merged: `npm run ok`, or `node tools/ok.mjs STEP...` for some steps.
 *
 * Steps are independent and run two at a time. One line per step; a failed step
 * prints its whole output. The last line counts steps.
 */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
/**
 * Slow tests: those with real programs (npm, etcd, kubectl, sockets, blocked threads), a suite on another store, or a
 * loop over every byte. `npm test` and CI run them; the gate skips them, so that it is fast enough to run often.
 */
const slowTests = [
  'tools/ensure.test.ts',
  'tools/package.test.ts',
  'tools/start.test.ts',
  'packages/cli/src/commands/serve.test.ts',
  'tools/docs-run.test.ts',
  'packages/evenkeel/src/store/etcd/**',
  'packages/conformance/src/store.test.ts',
  'packages/conformance/src/clients/**',
  'packages/evenkeel/src/store/file/damage.test.ts',
  'packages/evenkeel/src/manager/election/renewal-thread.test.ts',
  'packages/evenkeel/src/plane/launcher/launcher.test.ts',
  'examples/hello/**',
  'packages/evenkeel/src/testing/escapes.test.ts',
  'packages/evenkeel/src/testing/explore-input.test.ts',
  'packages/evenkeel/src/testing/tier-runner.test.ts',
  'packages/evenkeel/src/testing/replay.test.ts',
  'packages/evenkeel/src/testing/shrink.test.ts',
  'examples/finalizer/**',
  'packages/conformance/src/server/on-files.test.ts',
  'packages/conformance/src/server/on-https.test.ts',
]
/** Unchanged files are skipped. CI checks all files: a rule about a file may depend on others. */
const lintCache = process.env.CI ? [] : ['--cache', '--cache-strategy', 'content', '--cache-location', '.cache/eslint']

/** By name; this order fills two lanes well. */
const steps = {
  tests: ['tools/test.mjs', ...slowTests.flatMap((file) => ['--exclude', file])],
  types: [join(modules, 'typescript-7', 'bin', 'tsc'), '-p', 'tsconfig.json'],
  lint: [
    '--max-semi-space-size=64',
    join(modules, 'eslint', 'bin', 'eslint.js'),
    '--max-warnings',
    '0',
    ...lintCache,
    '.',
  ],
  package: ['tools/test.mjs', 'tools/package.test.ts'],
  build: ['tools/build.mjs'],
}
const gate = ['tests', 'types', 'lint']

function run(args) {
  const startMs = Date.now()
  const color = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...color },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ ok: false, output: String(error), seconds: 0 }))
    child.on('close', (code) => resolve({ ok: code === 0, output, seconds: (Date.now() - startMs) / 1_000 }))
  })
}

function show(name, { ok, output, seconds }) {
  const last = output.trim().split('\n').at(-1) ?? ''
  const note = /^\d+ passed/.test(last) ? `  ${last}` : ''
  console.log(`${ok ? 'ok    ' : 'FAILED'}  ${name.padEnd(8)} ${seconds.toFixed(1).padStart(6)} s${note}`)
  if (!ok) console.log(`\n${output.trim()}\n`)
}

/** Takes names from the shared list until it is empty. */
async function lane(names, results) {
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const result = await run(steps[name])
    results.push(result.ok)
    show(name, result)
  }
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in steps))
if (unknown.length > 0) {
  console.error(`Unknown step ${unknown.join(', ')}: there are ${Object.keys(steps).join(', ')}`)
  process.exit(2)
}
const waiting = asked.length > 0 ? asked : [...gate]
const results = []
const lanes = Math.min(2, availableParallelism())
await Promise.all(Array.from({ length: lanes }, () => lane(waiting, results)))
const failed = results.filter((ok) => !ok).length
console.log(`${results.length - failed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
