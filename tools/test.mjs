/**
 * Runs the tests: `node tools/test.mjs [vitest arguments]`; ends with `N passed, N failed`.
 *
 *   node tools/test.mjs             all but the long ones (long-tests.mjs)
 *   node tools/test.mjs --all       all of them
 *   node tools/test.mjs --long      only the long ones
 *   node tools/test.mjs --node      of the long ones those that depend on the Node
 *   node tools/test.mjs PATH ...    those of the path, long or not
 *
 * All arguments go to vitest (a path, `-t NAME`, `--watch`), except `--exclude GLOB`, which goes to vitest.config.ts:
 * vitest would not apply it to projects. The output of vitest is unchanged. The numbers come from test-counter.mjs, a
 * reporter that runs inside vitest and sends them through a pipe. A run without tests, or one that vitest reports as
 * failed, is a failure.
 */
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { longTests, nodeTests } from './long-tests.mjs'
import { sentByTerminal } from './run.mjs'

const tools = dirname(fileURLToPath(import.meta.url))
const root = dirname(tools)

function vitestArguments(given) {
  const has = (...names) =>
    given.some((argument) => names.some((name) => argument === name || argument.startsWith(`${name}=`)))
  const mode = has('--watch', '-w') ? [] : ['--run']
  const isWhole = !given.some((argument) => !argument.startsWith('-')) && mode.length > 0
  // What a passing test prints only hides the progress.
  const whole = [`--reporter=${join(tools, 'test-progress.mjs')}`, '--silent=passed-only']
  const shown = has('--reporter') ? [] : isWhole ? whole : ['--reporter=default']
  return [
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    ...mode,
    ...shown,
    `--reporter=${join(tools, 'test-counter.mjs')}`,
    ...given,
  ]
}

const sets = { '--long': longTests, '--node': nodeTests }

/** Takes `--all`, `--long`, `--node` and every `--exclude GLOB` out of the arguments. */
function chooseTests(given) {
  const excluded = []
  const rest = []
  for (let index = 0; index < given.length; index++) {
    if (given[index] === '--exclude') excluded.push(given[++index])
    else if (given[index] !== '--all' && !(given[index] in sets)) rest.push(given[index])
  }
  const [only = []] = Object.entries(sets).flatMap(([flag, tests]) => (given.includes(flag) ? [tests] : []))
  const isChosen = rest.some((argument) => !argument.startsWith('-'))
  if (only.length === 0 && !given.includes('--all') && !isChosen) excluded.push(...longTests)
  return { excluded: excluded.join(','), only: only.join(','), rest }
}

/** Resolves with the exit code and the last counts that the reporter sent. */
function runVitest(given) {
  const { excluded, only, rest } = chooseTests(given)
  const env = { ...process.env, TEST_COUNTER: '3', TESTS_EXCLUDED: excluded, TESTS_ONLY: only }
  const child = spawn(process.execPath, vitestArguments(rest), {
    cwd: root,
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env,
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => sentByTerminal(signal) || child.kill(signal))
  let output = ''
  child.stdio[3].on('data', (chunk) => {
    output += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 1, lastLine: output.trim().split('\n').at(-1) }))
  })
}

function summary({ passed, failed, skipped }) {
  const line = `${passed} passed, ${failed} failed`
  return skipped > 0 ? `${line}, ${skipped} skipped` : line
}

const { code, lastLine } = await runVitest(process.argv.slice(2))
const counts = lastLine ? JSON.parse(lastLine) : { passed: 0, failed: 0, skipped: 0 }
if (code !== 0 && counts.failed === 0) counts.failed = 1
console.log(summary(counts))
process.exitCode = counts.failed > 0 || counts.passed === 0 ? code || 1 : 0
