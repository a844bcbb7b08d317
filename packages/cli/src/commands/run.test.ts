/** `evenkeel run` with real processes: from the start to the verified end, detached, killed, and with controllers of a user. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemTable } from '@evenkeel/workloads'
import { typed, type Said } from '../fixtures/cli.fixture.ts'
import { startProcess } from '../fixtures/process.fixture.ts'

const table = systemTable()
const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0
const lives = (pid: number): boolean => table.find(pid) !== undefined

let folder: string
let stops: (() => Promise<unknown>)[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-run-'))
  stops = []
})
afterEach(async () => {
  for (const stop of stops) await stop()
  await rm(folder, { recursive: true, force: true })
})

const type = (...words: readonly string[]): Promise<Said> => typed(words, { cwd: folder })

function run(...words: readonly string[]) {
  const started = startProcess(['run', ...words], folder)
  stops.push(async () => {
    started.child.kill('SIGTERM')
    await started.ended
  })
  return started
}

/** Three processes: web needs api, api needs db. */
const processes = (changes: Readonly<Record<string, object>> = {}): string =>
  Object.entries({ db: [], api: ['db'], web: ['api'] })
    .map(([name, needs]) => {
      const spec = { shell: `echo ${name} runs; exec sleep 1000`, dependsOn: needs.map((needed) => ({ name: needed })) }
      return JSON.stringify({
        apiVersion: 'workloads.evenkeel.dev/v1',
        kind: 'Process',
        metadata: { name },
        spec: { ...spec, ...changes[name] },
      })
    })
    .join('\n---\n')

interface Shown {
  readonly name: string
  readonly pid: number
  readonly run: number
  readonly phase: string
}

const shown = async (...words: readonly string[]): Promise<readonly Shown[]> =>
  JSON.parse((await type('ps', '--json', ...words)).out) as readonly Shown[]
const pidsOf = async (...words: readonly string[]): Promise<readonly number[]> =>
  (await shown(...words)).map(({ pid }) => pid)

interface RunEvent {
  readonly event: string
  readonly name?: string
  readonly outcome?: string
  readonly line?: string
}

const eventsOf = (out: string): readonly RunEvent[] =>
  out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as RunEvent)

describe('evenkeel run', () => {
  test('W35, W40, W48: runs a file, shows it, restarts, refuses a second one, goes on after SIGTSTP, and ends in order at SIGHUP', async () => {
    await writeFile(join(folder, 'evenkeel.yaml'), processes())
    const started = run('--json')
    await started.until(/All 3 workloads are ready/)
    expect((await shown()).map(({ name, phase }) => `${name} ${phase}`)).toEqual([
      'api Running',
      'db Running',
      'web Running',
    ])
    expect(await type('restart', 'web')).toMatchObject({ code: 0 })
    await started.until(/"name":"web","phase":"Running","ready":"True","isSettled":true,"restarts":0,"run":2/)
    const second = await type('run')
    expect(second).toMatchObject({ code: 1, out: '' })
    expect(second.err).toContain(`evenkeel run is active in ${join(folder, 'data')} with pid `)
    expect(second.err).toContain('evenkeel run --copy NAME')
    expect(await type('exec', 'process/web', '--', 'sh', '-c', 'echo inside; exit 5')).toMatchObject({
      code: 5,
      out: 'inside\n',
    })
    expect(await type('logs', 'process/web', '--run', '2')).toMatchObject({ code: 0, out: 'web runs\n' })
    const path = '/apis/workloads.evenkeel.dev/v1/namespaces/default/processes/web/log?run=2'
    const raw = ['--kubeconfig', join(folder, 'data', 'kubeconfig'), 'get', '--raw', path]
    if (hasKubectl) expect(spawnSync('kubectl', raw, { encoding: 'utf8' }).stdout).toBe('web runs\n')
    const pids = await pidsOf()
    const { pid = 0 } = JSON.parse(readFileSync(join(folder, 'data', 'run.json'), 'utf8')) as { pid?: number }
    process.kill(pid, 'SIGTSTP')
    process.kill(pid, 'SIGCONT')
    expect(await pidsOf()).toEqual(pids)
    process.kill(pid, 'SIGHUP')
    const { code, out } = await started.ended
    const events = eventsOf(out)
    expect(events.flatMap(({ event, name, outcome }) => (event === 'stopped' ? [`${name} ${outcome}`] : []))).toEqual([
      'web Stopped',
      'api Stopped',
      'db Stopped',
    ])
    expect(events.filter(({ event, line }) => event === 'log' && line === 'web runs')).toHaveLength(2)
    expect(events.at(-1)).toEqual({ event: 'ended', exitCode: 0 })
    expect(code).toBe(0)
    expect(pids.filter(lives)).toEqual([])
    expect(existsSync(join(folder, 'data', 'run.json'))).toBe(false)
  })

  test('W33: in the background: down leaves persistent ones if asked to, the next run has the same process, down ends it', async () => {
    await writeFile(join(folder, 'evenkeel.yaml'), processes({ db: { lifetime: 'Persistent' } }))
    const detached = await startProcess(['run', '--detach', '--wait'], folder).ended
    expect(detached).toMatchObject({ code: 0, err: '' })
    const [api = 0, db = 0, web = 0] = await pidsOf()
    const kept = await type('down', '--keep')
    expect(kept).toMatchObject({ code: 0, err: '' })
    expect(kept.out.split('\n').map((line) => line.replace(/ after \d+ ms/, ''))).toEqual([
      'process/web gone',
      'process/api gone',
      'process/db goes on: its lifetime is Persistent',
      'Everything else is gone.',
      '',
    ])
    expect([api, web, db].map(lives)).toEqual([false, false, true])
    expect((await type('ps')).code).toBe(1)
    // It is the same object with the same spec: it is not touched.
    expect(await startProcess(['run', '-d', '--wait'], folder).ended).toMatchObject({ code: 0 })
    expect((await shown()).find(({ name }) => name === 'db')).toMatchObject({ pid: db, run: 1 })
    const pids = await pidsOf()
    const down = await type('down', '--json')
    expect(down).toMatchObject({ code: 0, err: '' })
    const lines = down.out.trim().split('\n')
    const events = lines.map((line) => JSON.parse(line) as { kind: string; name: string; message: string })
    expect(events.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['Process web', 'Process api', 'Process db'])
    for (const { message } of events) expect(message).toMatch(/^gone after \d+ ms$/)
    expect(pids.filter(lives)).toEqual([])
  })

  test('W35: a copy runs beside it, with other ports', async () => {
    const ports = [{ name: 'http', port: 0, env: 'PORT' }]
    await writeFile(join(folder, 'evenkeel.yaml'), processes({ web: { ports } }))
    await Promise.all([run('--plain').until(/are ready/), run('--plain', '--copy', 'blue').until(/are ready/)])
    const [first, copy] = await Promise.all([pidsOf(), pidsOf('--copy', 'blue')])
    expect(new Set([...first, ...copy]).size).toBe(6)
    expect(await type('down', '--copy', 'blue')).toMatchObject({ code: 0, err: '' })
    expect(copy.filter(lives)).toEqual([])
    expect(first.filter(lives)).toEqual(first)
  })

  test('W40: a second Ctrl-C kills what is left', async () => {
    const stubborn = {
      shell: `trap '' TERM; echo web runs; while :; do sleep 1; done`,
      stop: { gracePeriodSeconds: 600 },
    }
    await writeFile(join(folder, 'evenkeel.yaml'), processes({ web: stubborn }))
    const started = run('--json')
    await started.until(/"line":"web runs"[^]*All 3|All 3[^]*"line":"web runs"/)
    const pids = await pidsOf()
    const { pid = 0 } = JSON.parse(readFileSync(join(folder, 'data', 'run.json'), 'utf8')) as { pid?: number }
    process.kill(pid, 'SIGINT')
    await started.until(/A second Ctrl-C kills/)
    process.kill(pid, 'SIGINT')
    const { code, out } = await started.ended
    expect(eventsOf(out).find(({ event, name }) => event === 'stopped' && name === 'web')).toMatchObject({
      outcome: 'Killed',
    })
    expect(code).toBe(0)
    expect(pids.filter(lives)).toEqual([])
  })

  test('W8: kill -9 leaves nothing', async () => {
    await writeFile(join(folder, 'evenkeel.yaml'), processes())
    const started = run('--json')
    await started.until(/All 3 workloads are ready/)
    const pids = await pidsOf()
    const { pid = 0 } = JSON.parse(readFileSync(join(folder, 'data', 'run.json'), 'utf8')) as { pid?: number }
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => pids.filter(lives), { timeout: 50_000 }).toEqual([])
  })

  test('a module with objects, and controllers of its own beside them', async () => {
    const [evenkeel, package_] = ['evenkeel', '@evenkeel/workloads'].map((name) => import.meta.resolve(name))
    const text = `
import { defineController, defineKind } from '${evenkeel}'
import { defineApp } from '${package_}'
const Note = defineKind({ group: 'test.dev', version: 'v1', kind: 'Note', spec: { type: 'object' }, status: { type: 'object' } })
export const controllers = [defineController({ for: Note, reconcile: (_, { status }) => { status.condition('Ready', true) } })]
export const app = defineApp(({ process, object }) => {
  const db = process('db', { command: ['sleep', '1000'] })
  process('api', { command: ['sleep', '1000'], dependsOn: [db], env: { A: 1 } })
  object({ apiVersion: 'test.dev/v1', kind: 'Note', metadata: { name: 'a' }, spec: {} })
})
`
    await writeFile(join(folder, 'app.ts'), text)
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    const started = run('--plain', '--only', 'api')
    await started.until(/All 2 workloads are ready/)
    expect(await type('wait', 'note/a', '--for=Ready')).toMatchObject({ code: 0 })
    const pids = await pidsOf()
    expect(await type('down')).toMatchObject({ code: 0 })
    expect(await started.ended).toMatchObject({ code: 0 })
    expect(pids.filter(lives)).toEqual([])
  })

  test('a module that calls run with workloads of its own, and objects of another file', async () => {
    const [evenkeel, package_] = ['evenkeel', '@evenkeel/workloads'].map((name) => import.meta.resolve(name))
    const text = `
import { run } from '${evenkeel}'
import { workloads } from '${package_}'
await run({ ...workloads({ folder: './own' }) })
console.error('after run')
`
    await writeFile(join(folder, 'app.ts'), text)
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await writeFile(join(folder, 'evenkeel.yaml'), processes())
    const started = run('app.ts', 'evenkeel.yaml', '--plain')
    await started.until(/All 3 workloads are ready/)
    const pids = await pidsOf()
    expect(existsSync(join(folder, 'own', 'session'))).toBe(true)
    started.child.kill('SIGINT')
    expect(await started.ended).toMatchObject({ code: 0, err: 'after run\n' })
    expect(pids.filter(lives)).toEqual([])
  })

  test('--exit-on ends with the exit code of a process; --wait names what is not ready and ends it', async () => {
    await writeFile(join(folder, 'Procfile'), 'job: sleep 0.1; exit 3\nother: sleep 1000\n')
    const exited = await startProcess(['run', '--exit-on', 'job', '--plain'], folder).ended
    expect(exited.code).toBe(3)
    expect(exited.out).toMatch(/process\/job has ended/)
    const waits = { apiVersion: 'workloads.evenkeel.dev/v1', kind: 'Process', metadata: { name: 'api' } }
    const spec = { command: ['sleep', '1000'], dependsOn: [{ name: 'nothing' }] }
    await writeFile(join(folder, 'evenkeel.yaml'), JSON.stringify({ ...waits, spec }))
    const late = await startProcess(['run', '--plain', '--wait', '--timeout', '500ms'], folder).ended
    expect(late.code).toBe(1)
    expect(late.out).toMatch(/not ready: process\/api: Waiting: .*waits for Process nothing/)
  })
})
