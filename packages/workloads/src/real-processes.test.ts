/** Processes on this machine, on a real plane. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isReady, phaseIs, startReal } from './plane.fixture.ts'
import { Process } from './process-kind.ts'
import { systemTable } from './process-table.ts'

const table = systemTable()
const node = process.execPath
const isAlive = (pid: number): boolean => table.find(pid) !== undefined
const linesOf = (path: string): string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
const untilLog = { readiness: { logLine: { contains: 'listening' }, periodSeconds: 0.05 } }

/** Counts its SIGTERMs in a file and ends a moment after the first, so that a second one would be counted. */
const counting = (file: string): string => `
  const { appendFileSync } = require('node:fs')
  let count = 0
  process.on('SIGTERM', () => {
    appendFileSync(${JSON.stringify(file)}, 'SIGTERM ' + ++count + '\\n')
    if (count === 1) setTimeout(() => process.exit(0), 300)
  })
  setInterval(() => undefined, 1000)
  appendFileSync(${JSON.stringify(file)}, 'pid ' + process.pid + '\\n')
  console.log('listening')`

/** Waits until the program runs, stops it, and reads what it has written. */
async function expectOneSignal(world: Awaited<ReturnType<typeof startReal>>): Promise<void> {
  await world.until('web', isReady)
  await world.patch('web', { running: false })
  await world.until('web', phaseIs('Stopped'))
  const [first = '', ...signals] = linesOf(join(world.folder, 'seen'))
  expect(signals).toEqual(['SIGTERM 1'])
  expect(isAlive(Number(first.slice(4)))).toBe(false)
}

describe('a Process on this machine', () => {
  test('W47: has no input: what reads it sees its end', async () => {
    const world = await startReal()
    await world.create('web', { shell: 'wc -c >seen', restart: { policy: 'Never' } })
    await world.until('web', phaseIs('Succeeded'))
    expect(linesOf(join(world.folder, 'seen')).map(Number)).toEqual([0])
  })

  test('W1: becomes Ready with its pid, and is gone when it was deleted', async () => {
    const world = await startReal()
    await world.create('web', { command: ['sleep', '1000'] })
    const { status } = await world.until('web', isReady)
    const pid = status?.run?.pid ?? 0
    expect(process.kill(pid, 0)).toBe(true)
    expect(status?.run?.identity).toMatch(new RegExp(`^${pid}-${table.find(pid)?.startTicks}-`))
    expect(status?.run?.startedAt).toMatch(/^\d{4}-\d\d-\d\dT/)
    await world.remove('web')
    await world.untilGone('web')
    expect(isAlive(pid)).toBe(false)
  })

  test('W6: a stop reaches the grandchildren of sh, each once', async () => {
    const world = await startReal()
    const scripts = ['a', 'b'].map((name) => {
      writeFileSync(join(world.folder, `${name}.cjs`), counting(join(world.folder, name)))
      return `${node} ${name}.cjs`
    })
    await world.create('web', { command: ['sh', '-c', `${scripts.join(' & ')} & wait`], probes: untilLog })
    await world.plane.until(
      () => linesOf(join(world.folder, 'a')).length + linesOf(join(world.folder, 'b')).length === 2,
      { timeoutMs: 60_000 },
    )
    await world.patch('web', { running: false })
    await world.until('web', phaseIs('Stopped'))
    for (const name of ['a', 'b']) {
      const [first = '', ...signals] = linesOf(join(world.folder, name))
      expect(signals).toEqual(['SIGTERM 1'])
      expect(isAlive(Number(first.slice(4)))).toBe(false)
    }
  })

  // bash runs the last program in its place, so npm is then the parent of the program and passes the signal on.
  test.each(['/bin/sh', '/bin/bash'].filter((shell) => existsSync(shell)))(
    'W6: a stop reaches the program of npm run with %s, once',
    async (shell) => {
      const world = await startReal()
      const app = join(world.folder, 'app')
      mkdirSync(app)
      const scripts = { dev: `${node} server.cjs` }
      writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', version: '1.0.0', scripts }))
      writeFileSync(join(app, 'server.cjs'), counting(join(world.folder, 'seen')))
      const env = [
        { name: 'npm_config_update_notifier', value: 'false' },
        { name: 'npm_config_script_shell', value: shell },
      ]
      await world.create('web', { command: ['npm', 'run', 'dev'], cwd: 'app', env, probes: untilLog })
      await expectOneSignal(world)
    },
  )

  test('W6: a stop reaches the program of tsx watch, once', async () => {
    const world = await startReal()
    writeFileSync(join(world.folder, 'server.cjs'), counting(join(world.folder, 'seen')))
    const tsx = fileURLToPath(import.meta.resolve('tsx/cli'))
    await world.create('web', { command: [node, tsx, 'watch', 'server.cjs'], probes: untilLog })
    await expectOneSignal(world)
  })

  test('W7: one that ignores SIGTERM and one that left the group are killed, and named', async () => {
    const world = await startReal()
    const script = `trap '' TERM; echo $$; (setsid sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done' &); echo listening; while :; do sleep 1; done`
    await world.create('web', { shell: script, stop: { gracePeriodSeconds: 0.3 }, probes: untilLog })
    const { status } = await world.until('web', isReady)
    const logFile = status?.run?.logFile ?? ''
    await world.plane.until(() => linesOf(logFile).length === 3)
    const pids = linesOf(logFile)
      .map(Number)
      .filter((pid) => pid > 0)
    expect(pids).toHaveLength(2)
    await world.patch('web', { running: false })
    await world.until('web', phaseIs('Stopped'))
    expect(pids.filter(isAlive)).toEqual([])
    await world.plane.until(async () => (await world.events('web')).some(({ reason }) => reason === 'Killed'))
    const killed = (await world.events('web')).find(({ reason }) => reason === 'Killed')
    for (const pid of pids) expect(killed?.note).toContain(String(pid))
  })

  test('W25: a change of a watched file restarts the process, and the cause names the file', async () => {
    const world = await startReal()
    // What is in the folder of Evenkeel itself is ignored.
    const app = mkdtempSync(join(tmpdir(), 'evenkeel-app-'))
    onTestFinished(() => {
      rmSync(app, { recursive: true, force: true })
    })
    const path = join(app, 'server.cjs')
    const write = (text: string): void => {
      writeFileSync(path, `console.log('listening ${text}'); setInterval(() => undefined, 1000)`)
    }
    write('1')
    await world.create('web', { command: [node, path], watch: { paths: [app] }, probes: untilLog })
    await world.until('web', isReady)
    write('2')
    // On a slow machine the two steps of one write may be seen as two changes.
    const { status } = await world.until('web', (object) => isReady(object) && (object.status?.run?.number ?? 0) > 1)
    expect(status?.run?.cause).toBe(`${path} changed`)
    expect(linesOf(status?.run?.logFile ?? '')).toEqual(['listening 2'])
  })

  test('a process that is killed by another program is restarted by its exit', async () => {
    const world = await startReal()
    await world.create('web', { command: ['sleep', '1000'] })
    const { status } = await world.until('web', isReady)
    process.kill(status?.run?.pid ?? 0, 'SIGKILL')
    const after = await world.until('web', (object) => isReady(object) && object.status?.run?.number === 2)
    expect(after.status?.runs?.[0]).toMatchObject({ number: 1, signal: 'SIGKILL', reason: 'Signaled' })
  })

  test('W45: many processes start, are listed, and are all gone after a stop of the program', async () => {
    const world = await startReal()
    const count = Number(process.env['EVENKEEL_PROCESSES'] ?? 50)
    const names = Array.from({ length: count }, (_, index) => `web-${index}`)
    await Promise.all(names.map((name) => world.create(name, { command: ['sleep', '1000'] })))
    const objects = await Promise.all(names.map((name) => world.until(name, isReady)))
    const pids = objects.map(({ status }) => status?.run?.pid ?? 0)
    expect(new Set(pids).size).toBe(count)
    expect(pids.filter((pid) => !isAlive(pid))).toEqual([])
    const { items } = await world.client.list(Process, { namespace: 'default' })
    expect(items.map(({ metadata }) => metadata.name).sort()).toEqual([...names].sort())
    expect(await world.work.stop()).toEqual([])
    expect(pids.filter(isAlive)).toEqual([])
  })
})
