/**
 * A vitest reporter for whole runs: progress with the time that is left, failures as they happen, and what was skipped.
 *
 * In a terminal one line is redrawn; elsewhere a line appears every ten seconds. The time left follows from the times of
 * the last run (`.cache/test-times.json`): a few files take most of it, so a count of files alone would mislead.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DefaultReporter } from 'vitest/node'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const timesFile = join(root, '.cache', 'test-times.json')
const lineEveryMs = 10_000
const redrawMs = 250
/** A file that has never run. */
const unknownMs = 1_000

/** Programs that some tests need, and the Debian packages that have them. */
const programs = {
  etcd: 'etcd-server',
  etcdctl: 'etcd-client',
  kubectl: 'kubernetes-client',
  openssl: 'openssl',
  chromium: 'chromium',
  ps: 'procps',
  podman: 'podman',
  runc: 'runc',
  busybox: 'busybox-static',
}

const skippedFilesMax = 10

export default class TestProgress extends DefaultReporter {
  #times = readTimes()
  #paths = []
  #done = new Set()
  #tests = { passed: 0, failed: 0, skipped: 0 }
  /** Path to the number of skipped tests. */
  #skipped = new Map()
  #startedMs = 0
  #shownMs = 0
  #isLineOpen = false

  constructor() {
    super({ summary: false })
  }

  onTestRunStart(specifications) {
    this.#paths = specifications.map(({ moduleId }) => relative(root, moduleId))
    this.#startedMs = this.#shownMs = performance.now()
    process.stdout.write(`${this.#paths.length} files of tests\n`)
    super.onTestRunStart(specifications)
  }

  onTestModuleEnd(module) {
    const path = relative(root, module.moduleId)
    this.#done.add(path)
    const { duration, collectDuration, prepareDuration } = module.diagnostic()
    this.#times[path] = Math.round(duration + collectDuration + prepareDuration)
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      this.#tests[state]++
      if (state === 'skipped') this.#skipped.set(path, (this.#skipped.get(path) ?? 0) + 1)
    }
    if (module.state() === 'failed') {
      this.#clearLine()
      super.onTestModuleEnd(module)
    }
    this.#show()
  }

  onTestRunEnd(modules, errors, reason) {
    this.#clearLine()
    super.onTestRunEnd(modules, errors, reason)
    writeTimes(this.#times)
    this.#reportSkipped()
  }

  #show() {
    const now = performance.now()
    if (now - this.#shownMs < (process.stdout.isTTY ? redrawMs : lineEveryMs)) return
    this.#shownMs = now
    const { passed, failed } = this.#tests
    const counts = `${this.#done.size} of ${this.#paths.length} files, ${passed} passed, ${failed} failed`
    const text = `${counts}, ${this.#timeLeft(now)}`
    process.stdout.write(process.stdout.isTTY ? `\r\u001b[K${text}` : `${text}\n`)
    this.#isLineOpen = process.stdout.isTTY === true
  }

  /** Scaled by the pace of this run: another machine, or a busy one. */
  #timeLeft(now) {
    const sumOf = (paths) => paths.reduce((sum, path) => sum + (this.#times[path] ?? unknownMs), 0)
    const done = sumOf([...this.#done])
    const left = sumOf(this.#paths.filter((path) => !this.#done.has(path)))
    const seconds = (left * (now - this.#startedMs)) / Math.max(1, done) / 1_000
    return seconds < 60 ? `about ${Math.ceil(seconds)} s left` : `about ${Math.ceil(seconds / 60)} min left`
  }

  #clearLine() {
    if (this.#isLineOpen) process.stdout.write('\r\u001b[K')
    this.#isLineOpen = false
  }

  #reportSkipped() {
    if (this.#tests.skipped === 0) return
    const missing = Object.entries(programs).filter(([name]) => !isOnPath(name))
    process.stdout.write(`${this.#tests.skipped} tests were skipped.`)
    if (missing.length > 0)
      process.stdout.write(
        ` Missing programs: ${missing.map(([name, pack]) => (name === pack ? name : `${name} (Debian package ${pack})`)).join(', ')}.`,
      )
    process.stdout.write('\n')
    const files = [...this.#skipped].sort(([, a], [, b]) => b - a)
    for (const [path, count] of files.slice(0, skippedFilesMax)) process.stdout.write(`  ${count} in ${path}\n`)
    if (files.length > skippedFilesMax) process.stdout.write(`  and in ${files.length - skippedFilesMax} other files\n`)
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
