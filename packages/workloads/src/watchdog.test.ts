/** Real processes, and an Evenkeel that is killed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { SeededRandom, SystemClock, nextTurn, randomInt, sleep } from 'evenkeel/unstable/base'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ProcTable } from './process-table.ts'

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))))
const fixture = join(root, 'packages/workloads/src/session.fixture.ts')
const kills = Number(process.env['EVENKEEL_KILLS'] ?? 10)
const clock = new SystemClock()
const table = new ProcTable()

interface Victim {
  readonly lines: string[]
  readonly pid: () => number
  /** Kills it, not the program that compiles it, and waits for its end. */
  kill(): Promise<void>
  readonly session: () => string
  /** Waits for a line. */
  until(word: string): Promise<void>
}

function startEvenkeel(folder: string): Victim {
  const child = spawn(process.execPath, [join(root, 'tools/run.mjs'), fixture, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  const lines: string[] = []
  const pid = (): number => Number(lines.find((line) => line.startsWith('pid '))?.slice(4))
  const kill = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null && pid() > 0) process.kill(pid(), 'SIGKILL')
    await closed
  }
  onTestFinished(kill)
  const reader = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> })
  reader.on('line', (line) => lines.push(line))
  return {
    lines,
    pid,
    kill,
    session: () => lines.find((line) => line.startsWith('name '))?.slice(5) ?? '',
    async until(word) {
      while (!lines.some((line) => line.startsWith(word))) {
        if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode} before it wrote ${word}`)
        await once(reader, 'line')
      }
    },
  }
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

/** Waits until nothing of the session is left. The test has a timeout; this has none. */
async function untilNothingIsLeft(name: string): Promise<void> {
  while ((await ofSession(name)).length > 0) await sleep(clock, 10)
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-session-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

/** A point at which to kill: a line of output, and then a number of turns of the event loop of this process. */
const points = [
  'opened',
  'name',
  'start a',
  'started a',
  'start b',
  'ready',
  'start c',
  'started c',
  'stop c',
  'stopped c',
]

describe.skipIf(!existsSync('/proc/self/stat'))('an Evenkeel that is killed', () => {
  test(
    `W8: kill -9 at ${kills} points leaves no process and no watchdog, and the next one starts nothing twice`,
    async () => {
      const random = new SeededRandom('W8')
      const folder = newFolder()
      let name = ''
      for (let kill = 0; kill < kills; kill++) {
        const victim = startEvenkeel(folder)
        const point = points[kill % points.length] ?? ''
        await victim.until(point)
        const delay = randomInt(random, 40)
        for (let turn = 0; turn < delay; turn++) await nextTurn(clock)
        await victim.kill()
        name = victim.session() || name
        // A run is started when the one before is over: of each object there is at most one, and a count of its starts.
        expect(victim.lines.filter((line) => line === 'start a').length, victim.lines.join('\n')).toBeLessThanOrEqual(1)
        if (name !== '') await untilNothingIsLeft(name)
      }
      expect(name).toMatch(/^\w{8}$/)
      const { pids, starts } = startsOf(folder)
      // A program that was started twice for one run has one `started` line and two pids.
      expect(pids.length).toBeLessThanOrEqual(starts)
    },
    60_000 + kills * 10_000,
  )

  test('W35: a second Evenkeel in one folder is refused with the pid of the first', async () => {
    const folder = newFolder()
    const first = startEvenkeel(folder)
    await first.until('ready')
    const second = spawn(process.execPath, [join(root, 'tools/run.mjs'), fixture, folder], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let output = ''
    second.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    await once(second, 'close')
    expect(output).toContain(`is open in Evenkeel with pid ${first.pid()}: stop that one, or use another folder`)
    await first.kill()
    await untilNothingIsLeft(first.session())
  })
})

/** The pids that programs wrote, and how many starts the session file and its successors recorded. */
function startsOf(folder: string): { readonly pids: readonly string[]; readonly starts: number } {
  const pids = existsSync(join(folder, 'pids')) ? readFileSync(join(folder, 'pids'), 'utf8').trim().split('\n') : []
  const numbers = readFileSync(join(folder, 'session'), 'utf8').matchAll(/\/session\/(\w+)\/(\d+) /g)
  const highest = new Map<string, number>()
  for (const [, uid = '', number] of numbers) highest.set(uid, Math.max(highest.get(uid) ?? 0, Number(number)))
  return { pids, starts: [...highest.values()].reduce((sum, one) => sum + one, 0) }
}
