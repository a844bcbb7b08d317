/** Commands about single processes, with processes of this machine. */
import { once } from 'node:events'
import { spawn, type ChildProcess } from 'node:child_process'
import { systemTable } from '@evenkeel/workloads'
import { SystemClock } from 'evenkeel/unstable/base'
import { formatMicroTime } from 'evenkeel/unstable/api'
import { afterEach, expect, test } from 'vitest'
import { forkProcess, stopProcessTree } from './process-commands.ts'

const clock = new SystemClock()
const table = systemTable()
const { signal } = new AbortController()
const started: number[] = []

afterEach(() => {
  for (const pid of started.splice(0))
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
})

/** Runs `fork-process`; what it prints, and its exit code. */
async function fork(
  words: readonly string[],
  monitorPid?: number,
): Promise<{ readonly out: string; readonly code: number }> {
  let out = ''
  const stdout = { write: (text: string) => (out += text) }
  const code = await forkProcess(words, { env: process.env, stdout, clock, monitorPid, signal })
  started.push(Number(out))
  return { out, code }
}

/** A shell with a child; resolves to the process id of the child. */
async function startTree(script: string): Promise<{ readonly root: ChildProcess; readonly child: number }> {
  const root = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = (await once(root.stdout ?? root, 'data')) as [Buffer]
  started.push(root.pid ?? 0, Number(line.toString()))
  return { root, child: Number(line.toString()) }
}

/** As dcp writes the start time of a process: the time since the start of the machine, from the year 1. */
function startTimeOf(pid: number | undefined): string {
  const ticks = table.find(pid ?? 0)?.startTicks ?? 0
  return formatMicroTime(-62_135_596_800_000 + ticks * 10)
}

test('fork-process prints the process id and a newline, and leaves a process in a session of its own', async () => {
  const { out, code } = await fork(['sleep', '1000'])
  expect([out, code]).toEqual([expect.stringMatching(/^\d+\n$/) as string, 0])
  const pid = Number(out)
  expect(table.find(pid)).toMatchObject({ sessionId: pid, groupId: pid, command: 'sleep 1000' })
})

test('fork-process with a monitor has the exit code of its program', async () => {
  expect(await fork(['/bin/sh', '-c', 'exit 3'], process.pid)).toMatchObject({ code: 3 })
})

test('fork-process with a monitor that ends leaves its program', async () => {
  const monitor = spawn('sleep', ['1000'])
  const forked = fork(['sleep', '1000'], monitor.pid)
  monitor.kill('SIGKILL')
  const { out, code } = await forked
  expect([code, table.find(Number(out)) !== undefined]).toEqual([0, true])
})

test('stop-process-tree ends a process and its descendants, the ones that ignore SIGTERM too', async () => {
  const { root, child } = await startTree("(trap '' TERM; sleep 1000 & wait) & echo $!; wait")
  const startTime = startTimeOf(root.pid)
  await stopProcessTree({ pid: root.pid ?? 0, startTime, skipsDescendants: false, clock, signal })
  expect([table.find(root.pid ?? 0), table.find(child)]).toEqual([undefined, undefined])
})

test('stop-process-tree with --skip-descendants ends the process alone', async () => {
  const { root, child } = await startTree('sleep 1000 & echo $!; wait')
  await stopProcessTree({ pid: root.pid ?? 0, startTime: undefined, skipsDescendants: true, clock, signal })
  expect(table.find(root.pid ?? 0)).toBeUndefined()
  expect(table.find(child)).toBeDefined()
})
