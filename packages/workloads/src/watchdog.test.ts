/**
 * Real processes, and an Evenkeel that is killed.
 *
 * EVENKEEL_KILLS=200 kills that often, requires that everything is gone within two seconds, and prints the slowest.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { SeededRandom, SystemClock, nextTurn, randomInt, sleep } from 'evenkeel/unstable/base'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ProcTable } from './process-table.ts'

const asked = process.env['EVENKEEL_KILLS']
const kills = Number(asked ?? 12)
const boundMs = 2000
const clock = new SystemClock()
const table = new ProcTable()

/** What is killed, and the lines after which it is; `c Running 6` is the sixth line that begins with `c Running`. */
const fixtures = {
  'killed-plane': [
    'pid',
    'open',
    'a ',
    'a Running',
    'b Running',
    'c Running',
    'c Running 3',
    'c Running 6',
    'c Running 9',
  ],
  session: ['opened', 'start a', 'started a', 'start b', 'ready', 'start c', 'started c', 'stop c', 'stopped c'],
} as const
type Fixture = keyof typeof fixtures

/** Each program as one file: to compile the sources at each start would take seconds. */
const built = mkdtempSync(join(tmpdir(), 'evenkeel-killed-'))
const fileOf = (name: Fixture): string => join(built, `${name}.mjs`)
beforeAll(async () => {
  for (const name of Object.keys(fixtures) as readonly Fixture[]) {
    const bundle = await rolldown({
      input: fileURLToPath(new URL(`./${name}.fixture.ts`, import.meta.url)),
      platform: 'node',
      resolve: { conditionNames: ['source', 'import', 'node', 'default'] },
      logLevel: 'silent',
    })
    await bundle.write({ file: fileOf(name), format: 'esm', codeSplitting: false })
    await bundle.close()
  }
}, 120_000)
afterAll(() => {
  rmSync(built, { recursive: true, force: true })
})

interface Victim {
  readonly pid: number
  /** Kills it, and waits for its end. */
  kill(): Promise<void>
  /** Waits for a line that begins so, or for as many as the number says. */
  until(point: string): Promise<void>
}

function startEvenkeel(fixture: Fixture, folder: string): Victim {
  const child = spawn(process.execPath, [fileOf(fixture), folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  const lines: string[] = []
  const kill = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await closed
  }
  onTestFinished(kill)
  const reader = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> })
  reader.on('line', (line) => lines.push(line))
  const ended = closed.then(([code]) => {
    throw new Error(`it ended with ${String(code)} after: ${lines.join(', ')}`)
  })
  ended.catch(() => undefined)
  return {
    pid: child.pid ?? 0,
    kill,
    async until(point) {
      const [, word = '', count = '1'] = /^(.*?)(?: (\d+))?$/.exec(point) ?? []
      while (lines.filter((line) => line.startsWith(word)).length < Number(count))
        await Promise.race([once(reader, 'line'), ended])
    },
  }
}

/** The name of the session in a folder; empty before there is one. */
function sessionOf(folder: string): string {
  const path = join(folder, 'workloads', 'session')
  return existsSync(path) ? (/^session (\w+) /.exec(readFileSync(path, 'utf8'))?.[1] ?? '') : ''
}

/** Every process with a mark of this session, and its watchdog. */
async function ofSession(name: string): Promise<readonly string[]> {
  const entries = await table.list(0, () => nextTurn(clock))
  return entries
    .filter(
      ({ mark, command }) => mark?.startsWith(`${name}/`) === true || command.includes(`evenkeel-watchdog ${name}`),
    )
    .map(({ pid, command }) => `${pid} ${command}`)
}

/** Waits until nothing of the session is left, and returns how long that took. The test has a timeout; this has none. */
async function untilNothingIsLeft(folder: string): Promise<number> {
  const fromMs = clock.monotonic()
  const name = sessionOf(folder)
  const isLeft = async (): Promise<boolean> => name !== '' && (await ofSession(name)).length > 0
  while (await isLeft()) await sleep(clock, 10)
  return clock.monotonic() - fromMs
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-session-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

/** The lines that programs have written: see marked-program.fixture.ts. */
function linesOf(folder: string, name: 'marks' | 'overlaps'): readonly string[] {
  const path = join(folder, name)
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
}

/** Values that are there more than once. */
function repeated(values: readonly string[]): readonly string[] {
  return values.filter((value, index) => values.indexOf(value) !== index)
}

const cannotRun = !existsSync('/proc/self/stat') || spawnSync('flock', ['--version']).status !== 0

describe.skipIf(cannotRun)('an Evenkeel that is killed', () => {
  test.each(Object.keys(fixtures) as readonly Fixture[])(
    `W8: ${kills} times kill -9 at a random point of %s leaves no process, no watchdog, and starts no run twice`,
    async (fixture) => {
      const random = new SeededRandom(`W8 ${fixture}`)
      const points = fixtures[fixture]
      const folder = newFolder()
      let slowestMs = 0
      for (let kill = 0; kill < kills; kill++) {
        const victim = startEvenkeel(fixture, folder)
        await victim.until(points[randomInt(random, points.length)] ?? '')
        const turns = randomInt(random, 200)
        for (let turn = 0; turn < turns; turn++) await nextTurn(clock)
        await victim.kill()
        slowestMs = Math.max(slowestMs, await untilNothingIsLeft(folder))
        expect(repeated(linesOf(folder, 'marks')), `runs that were started twice, after kill ${kill + 1}`).toEqual([])
        expect(linesOf(folder, 'overlaps'), `starts beside an earlier run, after kill ${kill + 1}`).toEqual([])
      }
      const starts = linesOf(folder, 'marks').length
      expect(starts).toBeGreaterThan(0)
      if (asked === undefined) return
      process.stderr.write(`W8 ${fixture}: ${kills} kills, ${starts} starts, slowest ${Math.round(slowestMs)} ms\n`)
      expect(slowestMs).toBeLessThan(boundMs)
    },
    60_000 + kills * 10_000,
  )

  test('W35: a second Evenkeel in one folder is refused with the pid of the first', async () => {
    const folder = newFolder()
    const first = startEvenkeel('session', folder)
    await first.until('ready')
    const second = spawn(process.execPath, [fileOf('session'), folder], { stdio: ['ignore', 'ignore', 'pipe'] })
    let output = ''
    second.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    await once(second, 'close')
    expect(output).toContain(`is open in Evenkeel with pid ${first.pid}: stop that one, or use another folder`)
    await first.kill()
    await untilNothingIsLeft(folder)
  })
})
