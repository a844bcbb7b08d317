/**
 * How a test file runs with mutants: each test once without, to find the mutants it reaches, and then once for each
 * of them, including hooks.
 *
 * A test that does not pass twice in a row is skipped. Results are written to files immediately, so
 * that an endless mutant costs only itself: the parent kills the process and starts it again.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TestRunner, type RunnerTask, type RunnerTestCase as Test } from 'vitest'

interface Reached {
  readonly test: string
  readonly ids: readonly number[]
  /** The duration without a mutant. */
  readonly ms: number
}

const folder = process.env['MUTATE_FOLDER'] ?? ''
const phase = process.env['MUTATE_PHASE'] ?? 'reach'
/** A test that exceeds ten times its duration plus this does not end. */
const patienceMs = 2_000

let active = -1
let reached = new Set<number>()
let startMs = 0
Object.assign(globalThis, {
  __mutant: (id: number): boolean => {
    if (active === -1) reached.add(id)
    return id === active
  },
})

class MutantRunner extends TestRunner {
  readonly #byTest = phase === 'judge' ? reachedByTest() : new Map<string, Reached>()
  /** Tests that passed with a mutant before the process was killed and started again, as `id test`. */
  readonly #passed = new Set(lines('passed'))
  readonly #pending = new Map<string, number[]>()
  /** The duration of the first run of a test: the second one may wait forever for what the first one has changed. */
  readonly #firstMs = new Map<string, number>()

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    await super.onBeforeRunTask(test)
    if (test.type !== 'test') return
    if (phase === 'reach') {
      test.repeats = 1
      return
    }
    const [name, noticed] = [nameOf(test), readIds('noticed')]
    const ids = (this.#byTest.get(name)?.ids ?? []).filter(
      (id) => !noticed.has(id) && !this.#passed.has(`${id} ${name}`),
    )
    if (ids.length === 0) test.mode = 'skip'
    this.#pending.set(name, ids)
    test.repeats = Math.max(0, ids.length - 1)
  }

  /** Before the hooks of one run of a test: what they reach belongs to the test. */
  override onBeforeTryTask(test: Test): void {
    super.onBeforeTryTask(test)
    reached = new Set()
    startMs = performance.now()
    if (phase === 'reach') return
    const id = this.#pending.get(nameOf(test))?.shift()
    if (id === undefined || readIds('noticed').has(id)) return
    writeFileSync(join(folder, `current-${process.pid}`), `${id} ${this.#limitMs(test)}`)
    active = id
  }

  async runTask(test: Test): Promise<void> {
    const body = TestRunner.getTestFn(test)
    if (phase === 'reach' && !this.#firstMs.has(nameOf(test))) await body()
    else if (phase === 'reach' || active !== -1) await withinTime(this.#limitMs(test), body)
  }

  #limitMs(test: Test): number {
    const name = nameOf(test)
    return patienceMs + 10 * (this.#byTest.get(name)?.ms ?? this.#firstMs.get(name) ?? 0)
  }

  /** After the hooks of one run. A hook that fails has noticed as well. */
  onAfterRetryTask(test: Test): void {
    const hasFailed = test.result?.state === 'fail'
    const isSecond = (test.result?.repeatCount ?? 0) > 0
    if (phase === 'reach' && !isSecond) this.#firstMs.set(nameOf(test), performance.now() - startMs)
    if (phase === 'reach' && isSecond && !hasFailed)
      append('reached', { test: nameOf(test), ids: [...reached], ms: performance.now() - startMs } satisfies Reached)
    if (active !== -1)
      appendFileSync(
        join(folder, hasFailed ? 'noticed' : 'passed'),
        hasFailed ? `${active}\n` : `${active} ${nameOf(test)}\n`,
      )
    active = -1
    // A failure would count for the runs with other mutants as well.
    if (phase === 'judge' && hasFailed && test.result) {
      test.result.state = 'run'
      test.result.errors = []
    }
  }
}

async function withinTime(limitMs: number, body: () => unknown): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error('the test does not end'))
    }, limitMs)
  })
  try {
    await Promise.race([body(), late])
  } finally {
    clearTimeout(timer)
  }
}

/** The id and not the title: vitest cuts long titles, so that many tests of a table have the same. */
function nameOf(test: Test): string {
  return `${test.file.name} > ${test.id}`
}

function append(name: string, value: unknown): void {
  appendFileSync(join(folder, name), `${JSON.stringify(value)}\n`)
}

function lines(name: string): string[] {
  const path = join(folder, name)
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
}

function readIds(name: string): Set<number> {
  return new Set(lines(name).map(Number))
}

function reachedByTest(): Map<string, Reached> {
  return new Map(
    lines('reached')
      .map((line) => JSON.parse(line) as Reached)
      .map((one) => [one.test, one]),
  )
}

export default MutantRunner
