/** Real processes of this machine: what the kernel says, and what is made of it. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nextTurn, SystemClock } from 'evenkeel/unstable/base'
import { describe, expect, onTestFinished, test } from 'vitest'
import { explainFailure, passingReasons } from './launch-failure.ts'
import { OsProcessHost } from './os-host.ts'
import type { LaunchResult, ProcessExit, ProcessIdentity } from './process-host.ts'
import { markVariable, parsePsLine, parseStat, ProcTable, PsTable, systemTable } from './process-table.ts'

const clock = new SystemClock()
const isLinux = process.platform === 'linux'
const hasPs = spawnSync('ps', ['--version']).error === undefined

interface World {
  readonly host: OsProcessHost
  readonly folder: string
  launch(
    command: readonly string[],
    given?: { readonly cwd?: string; readonly env?: Record<string, string> },
  ): Promise<LaunchResult>
  /** Starts it, or fails. */
  start(...command: readonly string[]): Promise<ProcessIdentity>
  exitOf(identity: ProcessIdentity): Promise<ProcessExit>
  log(): string
}

function newWorld(): World {
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-host-'))
  const host = new OsProcessHost({ table: systemTable() })
  const exits = new Map<number, ProcessExit>()
  const waiting = new Map<number, (exit: ProcessExit) => void>()
  const started: ProcessIdentity[] = []
  host.exits.subscribe((exit) => {
    exits.set(exit.identity.pid, exit)
    waiting.get(exit.identity.pid)?.(exit)
  })
  onTestFinished(async () => {
    for (const identity of started) await host.signalProcess(identity, 'SIGKILL', { group: true })
    rmSync(folder, { recursive: true, force: true })
  })
  const logFile = join(folder, 'logs', 'a.log')
  const launch: World['launch'] = async (command, { cwd = folder, env = {} } = {}) => {
    const result = await host.launch({ command, cwd, env: { PATH: process.env['PATH'] ?? '', ...env }, logFile })
    if ('identity' in result) started.push(result.identity)
    return result
  }
  return {
    host,
    folder,
    launch,
    async start(...command) {
      const result = await launch(command)
      if ('failure' in result) throw new Error(result.failure.message)
      return result.identity
    },
    exitOf: ({ pid }) =>
      new Promise((resolve) => {
        const exit = exits.get(pid)
        if (exit) resolve(exit)
        else waiting.set(pid, resolve)
      }),
    log: () => readFileSync(logFile, 'utf8'),
  }
}

const failureOf = (result: LaunchResult) => ('failure' in result ? result.failure : { reason: 'started', message: '' })

describe('OsProcessHost', () => {
  test('W1: starts a program in a group of its own; the table and kill -0 agree', async () => {
    const { host, start } = newWorld()
    const identity = await start('sleep', '1000')
    expect(process.kill(identity.pid, 0)).toBe(true)
    expect(await host.findProcess(identity)).toMatchObject({
      pid: identity.pid,
      groupId: identity.pid,
      sessionId: identity.pid,
      parentPid: process.pid,
    })
  })

  test('W4: exit codes and signals are told apart', async () => {
    const { start, exitOf } = newWorld()
    const ends = await Promise.all(
      ['exit 0', 'exit 3', 'kill -KILL $$', 'ulimit -c 0; kill -SEGV $$'].map(async (script) => {
        const { identity: _, ...end } = await exitOf(await start('sh', '-c', script))
        return end
      }),
    )
    expect(ends).toEqual([{ exitCode: 0 }, { exitCode: 3 }, { signal: 'SIGKILL' }, { signal: 'SIGSEGV' }])
  })

  test('a program that ends at once has the identity that its exit reports', async () => {
    const { start, exitOf } = newWorld()
    for (let round = 0; round < 20; round++) {
      const identity = await start('true')
      expect(identity.startTicks).toBeGreaterThan(0)
      expect((await exitOf(identity)).identity).toEqual(identity)
    }
  })

  test('W9: a signal for an identity that is not the one of the pid is not sent', async () => {
    const { host, start } = newWorld()
    const identity = await start('sleep', '1000')
    const { pid, startTicks, bootId } = identity
    expect(await host.signalProcess({ pid, startTicks: startTicks - 1, bootId }, 'SIGKILL')).toBe(false)
    expect(await host.signalProcess({ pid, startTicks, bootId: 'another' }, 'SIGKILL', { group: true })).toBe(false)
    expect(await host.findProcess(identity)).toBeDefined()
    expect(await host.signalProcess(identity, 'SIGTERM')).toBe(true)
  })

  test('a zombie is not alive', async () => {
    const { host, start, exitOf, log } = newWorld()
    // The shell becomes a program that never waits for its child.
    const parent = await start('sh', '-c', 'sh -c "exit 0" & echo $!; exec sleep 1000')
    while (!/\d+\n/.test(log())) await nextTurn(clock)
    const child = Number(log())
    const table = systemTable()
    while (table.find(child)) await nextTurn(clock)
    expect(table.startTicks(child)).toBeGreaterThan(0)
    expect((await host.listProcesses(parent.startTicks)).map(({ pid }) => pid)).not.toContain(child)
    await host.signalProcess(parent, 'SIGKILL')
    await exitOf(parent)
  })

  test('a list that is asked for includes what happened before, and requests share it', async () => {
    const { host, start } = newWorld()
    const lists: Promise<readonly { readonly pid: number }[]>[] = []
    const started: ProcessIdentity[] = []
    for (let index = 0; index < 5; index++) {
      started.push(await start('sleep', '1000'))
      lists.push(host.listProcesses(0), host.listProcesses(0))
    }
    for (const [index, list] of (await Promise.all(lists)).entries())
      expect(list.map(({ pid }) => pid)).toContain(started[Math.floor(index / 2)]?.pid)
  })

  test.runIf(isLinux && hasPs)('/proc and ps show the same tree, with marks', async () => {
    const { host, launch, exitOf } = newWorld()
    const mark = 'test/session/uid/7'
    const result = await launch(['sh', '-c', 'sleep 1000 & sleep 1000 & wait'], { env: { [markVariable]: mark } })
    if ('failure' in result) throw new Error(result.failure.message)
    const pause = () => nextTurn(clock)
    const ours = async (table: ProcTable | PsTable): Promise<unknown[]> =>
      (await table.list(0, pause))
        .filter((entry) => entry.mark === mark)
        .map(({ pid, parentPid, groupId, sessionId }) => ({ pid, parentPid, groupId, sessionId }))
    const proc = new ProcTable()
    while ((await ours(proc)).length < 3) await pause()
    const ps = new PsTable('boot')
    expect(await ours(ps)).toEqual(await ours(proc))
    expect(ps.startTicks(result.identity.pid)).toBe(ps.find(result.identity.pid)?.startTicks)
    await host.signalProcess(result.identity, 'SIGKILL', { group: true })
    await exitOf(result.identity)
  })

  test('W17: the process that holds a port is named', async () => {
    const { host } = newWorld()
    const server = createServer()
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const [holder] = await host.findPortHolders([port])
    expect(holder).toMatchObject(
      isLinux ? { port, pid: process.pid, command: expect.stringContaining('node') as string } : { port },
    )
    await new Promise((resolve) => {
      server.close(resolve)
    })
    expect(await host.findPortHolders([port])).toEqual([])
  })

  test('W46: unicode arguments, spaces and quotes in paths, a program relative to its folder', async () => {
    const { folder, launch, exitOf, log } = newWorld()
    const place = join(folder, `a "b" 'c' ü`)
    mkdirSync(place)
    writeFileSync(join(place, 'run me.sh'), '#!/bin/sh\nprintf "[%s]" "$@" "$(pwd)"\n', { mode: 0o755 })
    const result = await launch(['./run me.sh', 'naïve 日本', '$HOME `id`', '', "it's"], { cwd: place })
    if ('failure' in result) throw new Error(result.failure.message)
    await exitOf(result.identity)
    expect(log()).toBe(`[naïve 日本][$HOME \`id\`][][it's][${place}]`)
  })
})

describe('a program that cannot be started', () => {
  const files: Readonly<Record<string, (folder: string) => void>> = {
    plain: (folder) => writeFileSync(join(folder, 'plain'), 'x', { mode: 0o644 }),
    dir: (folder) => mkdirSync(join(folder, 'dir')),
    script: (folder) => writeFileSync(join(folder, 'script'), '#!/no/such/interpreter -x\n', { mode: 0o755 }),
    loop: (folder) => symlinkSync('loop', join(folder, 'loop')),
  }
  test.each([
    ['./missing', 'NotFound', 'missing does not exist. Correct the command'],
    ['./plain', 'NotExecutable', 'plain is not executable. Run chmod +x on it'],
    ['./dir', 'IsDirectory', 'dir is a directory. Name the program in it'],
    ['./script', 'BadInterpreter', 'interpreter /no/such/interpreter in its first line, which does not exist'],
    ['./loop', 'NotFound', 'loop does not exist'],
  ])('W2, W3: %s: %s', async (command, reason, message) => {
    const { folder, launch } = newWorld()
    for (const make of Object.values(files)) make(folder)
    const failure = failureOf(await launch([command]))
    expect(failure).toEqual({ reason, message: expect.stringContaining(message) as string })
  })

  test('W2: a program that is in no folder of PATH: the message has the path', async () => {
    const { launch } = newWorld()
    expect(failureOf(await launch(['no-such-program'], { env: { PATH: '/bin:/opt/x' } }))).toEqual({
      reason: 'NotFound',
      message: 'no-such-program is in no folder of PATH: /bin:/opt/x. Correct the command or install the program',
    })
  })

  test.each([
    ['missing', 'WorkingDirectoryMissing', 'does not exist. Create it or change spec.cwd'],
    ['file', 'WorkingDirectoryMissing', 'is a file. Change spec.cwd'],
  ])('W3: a working directory that is %s', async (name, reason, message) => {
    const { folder, launch } = newWorld()
    writeFileSync(join(folder, 'file'), '')
    const failure = failureOf(await launch(['true'], { cwd: join(folder, name) }))
    expect(failure).toEqual({ reason, message: expect.stringContaining(message) as string })
  })

  test.skipIf(process.getuid?.() === 0)('W3: a working directory that may not be entered', async () => {
    const { folder, launch } = newWorld()
    mkdirSync(join(folder, 'locked'))
    chmodSync(join(folder, 'locked'), 0o600)
    expect(failureOf(await launch(['true'], { cwd: join(folder, 'locked') })).reason).toBe('WorkingDirectoryForbidden')
  })

  test.each([
    ['EAGAIN', 'ProcessLimit', true],
    ['EMFILE', 'FileLimit', true],
    ['ENOMEM', 'OutOfMemory', true],
    ['ETXTBSY', 'TextFileBusy', true],
    ['EIO', 'LaunchFailed', true],
    ['EACCES', 'NotExecutable', false],
    ['ENOEXEC', 'BadInterpreter', false],
    ['E2BIG', 'ArgumentsTooLong', false],
  ])('W3, W45: %s of the kernel is %s; whether another attempt can succeed: %s', (code, reason, passes) => {
    const failure = explainFailure(Object.assign(new Error(`spawn ${code}`), { code }), { command: ['server'] })
    expect(failure).toEqual({ reason, message: expect.stringMatching(`^(?:server|spawn): .*${code}`) as string })
    expect(passingReasons.has(failure.reason)).toBe(passes)
  })

  test.runIf(isLinux)(
    'W3: a file that is open for writing (ETXTBSY), and arguments that are too long (E2BIG)',
    async () => {
      const { folder, launch, start, log } = newWorld()
      writeFileSync(join(folder, 'busy'), readFileSync('/bin/sleep'), { mode: 0o755 })
      await start('sh', '-c', `exec 9>>${folder}/busy; echo open; exec sleep 1000`)
      while (!log().includes('open')) await nextTurn(clock)
      expect(failureOf(await launch(['./busy', '1']))).toEqual({
        reason: 'TextFileBusy',
        message: './busy: the file is open for writing (ETXTBSY)',
      })
      expect(failureOf(await launch(['true', 'x'.repeat(200_000)])).reason).toBe('ArgumentsTooLong')
      expect(failureOf(await launch(['true', 'a\0b'])).reason).toBe('InvalidArgument')
    },
  )
})

describe('the lines of the process table', () => {
  test('a name with spaces and parentheses does not move the fields', () => {
    const line = `812 (my (odd) name) S 1 811 810 0 -1 4194560 ${'0 '.repeat(12)}99120 rest`
    expect(parseStat(line)).toEqual({ pid: 812, parentPid: 1, groupId: 811, sessionId: 810, startTicks: 99_120 })
    expect(parseStat(line.replace(' S ', ' Z '))).toBeUndefined()
  })

  test('ps: start times are ordered, zombies are left out, the session of macOS is the group', () => {
    const line = (state: string, session: string, time: string): string =>
      ` 812     1   811 ${session} ${state}   ${time} node a.js ${markVariable}=s/session/u/1 X=2`
    const entry = parsePsLine(line('Ss', '810', 'Thu Nov 19 10:03:01 2026'))
    expect(entry).toMatchObject({ pid: 812, groupId: 811, sessionId: 810, mark: 's/session/u/1' })
    expect(parsePsLine(line('Z', '810', 'Thu Nov 19 10:03:01 2026'))).toBeUndefined()
    expect(parsePsLine(line('S', '0xf7a0', 'Thu Nov 19 10:03:01 2026'))?.sessionId).toBe(811)
    const times = [
      'Wed Dec 31 23:59:59 2025',
      'Thu Jan  1 00:00:00 2026',
      'Sun Mar  1 00:00:00 2026',
      'Tue Feb 29 12:00:00 2028',
      'Wed Mar  1 12:00:00 2028',
    ]
    const ticks = times.map((time) => parsePsLine(line('S', '1', time))?.startTicks ?? 0)
    expect(ticks).toEqual([...ticks].sort((a, b) => a - b))
    expect((ticks[1] ?? 0) - (ticks[0] ?? 0)).toBe(100)
    expect((ticks[4] ?? 0) - (ticks[3] ?? 0)).toBe(24 * 3600 * 100)
  })
})
