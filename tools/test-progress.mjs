/**
 * A vitest reporter for whole runs: progress with the time that is left, failures as they happen, and what was skipped.
 *
 * In a terminal one line is redrawn; elsewhere a line appears every ten seconds. The times of the last run are in
 * `.cache/test-times.json`. What is printed is in `run-progress.mjs`.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DefaultReporter } from 'vitest/node'
import { RunProgress } from './run-progress.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const timesFile = join(root, '.cache', 'test-times.json')
const lineEveryMs = 10_000
const redrawMs = 250

export default class TestProgress extends DefaultReporter {
  #progress = new RunProgress()
  #shownMs = 0
  #isLineOpen = false

  constructor() {
    super({ summary: false })
  }

  onTestRunStart(specifications) {
    this.#shownMs = performance.now()
    const paths = specifications.map(({ moduleId }) => relative(root, moduleId))
    this.#progress = new RunProgress({ paths, times: readTimes(), startedMs: this.#shownMs })
    process.stdout.write(`${paths.length} files of tests\n`)
    super.onTestRunStart(specifications)
  }

  onTestModuleEnd(module) {
    const { duration, collectDuration, prepareDuration } = module.diagnostic()
    this.#progress.add({
      path: relative(root, module.moduleId),
      ms: Math.round(duration + collectDuration + prepareDuration),
      states: [...module.children.allTests()].map((test) => test.result().state),
    })
    if (module.state() === 'failed') {
      this.#clearLine()
      super.onTestModuleEnd(module)
    }
    this.#show()
  }

  onTestRunEnd(modules, errors, reason) {
    this.#clearLine()
    super.onTestRunEnd(modules, errors, reason)
    writeTimes(this.#progress.times)
    for (const line of this.#progress.skippedLines(isOnPath)) process.stdout.write(`${line}\n`)
  }

  #show() {
    const now = performance.now()
    if (now - this.#shownMs < (process.stdout.isTTY ? redrawMs : lineEveryMs)) return
    this.#shownMs = now
    const text = this.#progress.line(now)
    process.stdout.write(process.stdout.isTTY ? `\r\u001b[K${text}` : `${text}\n`)
    this.#isLineOpen = process.stdout.isTTY === true
  }

  #clearLine() {
    if (this.#isLineOpen) process.stdout.write('\r\u001b[K')
    this.#isLineOpen = false
  }
}

function isOnPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))
}

function readTimes() {
  try {
    return JSON.parse(readFileSync(timesFile, 'utf8'))
  } catch {
    return {}
  }
}

function writeTimes(times) {
  try {
    mkdirSync(dirname(timesFile), { recursive: true })
    writeFileSync(timesFile, JSON.stringify(times))
  } catch {
    // A read-only clone has no times; the next run guesses.
  }
}
