/** The session on a simulated machine: crashes at every point, adoption, strangers. */
import { SimulatedClock } from 'evenkeel/unstable/base'
import { describe, expect, test } from 'vitest'
import type { Files } from './files.ts'
import type { ProcessHost } from './process-host.ts'
import type { Run, RunPlan } from './runs.ts'
import { Session } from './session.ts'
import { SimulatedFiles, SimulatedHost } from './simulated-host.ts'

const planOf = (
  uid: string,
  command: readonly string[] = ['serve'],
  lifetime: RunPlan['lifetime'] = 'session',
): RunPlan => ({
  owner: { uid, namespace: 'default', name: uid },
  lifetime,
  command,
  cwd: '/',
  env: {},
  fingerprint: 'command=1',
  cause: 'a test',
  failures: 0,
  restarts: 0,
  ports: [],
  variables: [],
})
const stopPlan = { signal: 'SIGTERM', graceMs: 1000, reason: 'Stopped' } as const

/** A machine that outlives Evenkeel. */
class Machine {
  readonly clock = new SimulatedClock()
  readonly host = new SimulatedHost({ clock: this.clock })
  readonly files = new SimulatedFiles()

  /** An Evenkeel on it; `dies` ends it when a call with this name begins, or after it was executed. */
  async open(dies?: { readonly at: string; readonly isAfter: boolean }): Promise<Session> {
    const session = new Session({
      host: dying(this.host, dies) as ProcessHost,
      files: dying(this.files, dies) as Files,
      clock: this.clock,
      folder: '/data',
      name: '5f0c1d2e',
    })
    await session.open()
    return session
  }

  commands(): string[] {
    return this.host.processes().map(({ command }) => command)
  }

  lines(): string[] {
    return (this.files.contents['/data/session'] ?? '').split('\n').map((line) => line.split(' ')[0] ?? '')
  }
}

/** Calls of this service do not return once one with the text in it was made: that is what a crash looks like from inside. */
function dying<T extends object>(service: T, dies: { readonly at: string; readonly isAfter: boolean } | undefined): T {
  return new Proxy(service, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...parameters: unknown[]) => {
        const isFatal = dies !== undefined && `${String(name)} ${String(parameters[1] ?? '')}`.includes(dies.at)
        if (isFatal && !dies.isAfter) return new Promise(() => undefined)
        const result: unknown = value.apply(target, parameters)
        return isFatal ? new Promise(() => undefined) : result
      }
    },
  })
}

/** Lets promises settle that can. */
const settle = (machine: Machine): Promise<void> => machine.clock.advance(1)

async function started(session: Session, plan: RunPlan, number = 1): Promise<Run> {
  const run = await session.start(plan, { number })
  if ('reason' in run && 'message' in run) throw new Error(run.message)
  return run as Run
}

describe('Session', () => {
  test('writes a line before a start and one after it, with pid and start time', async () => {
    const machine = new Machine()
    const session = await machine.open()
    const run = await started(session, planOf('a'))
    await settle(machine)
    expect(machine.lines()).toEqual(['session', 'start', 'started', ''])
    expect(machine.files.contents['/data/session']).toContain(
      `\nstarted 5f0c1d2e/session/a/1 ${run.identity?.pid} ${run.identity?.startTicks} {"bootId"`,
    )
  })

  test('refuses a second run of an object that is not over', async () => {
    const session = await new Machine().open()
    await started(session, planOf('a'))
    await expect(session.start(planOf('a'), { number: 2 })).rejects.toThrow(
      'run 1 of default/a is not over: end it first',
    )
  })

  test.each([
    ['before the line of the start', { at: 'appendText start ', isAfter: false }, []],
    ['between that line and the start', { at: 'launch', isAfter: false }, []],
    ['after the start, before its record', { at: 'launch', isAfter: true }, ['serve']],
    ['before the record is written', { at: 'appendText started ', isAfter: false }, ['serve']],
    ['after the record', { at: 'appendText started ', isAfter: true }, ['serve']],
  ])('W8: killed %s: the next one finds what runs, and nothing runs twice', async (_, { at, isAfter }, running) => {
    const machine = new Machine()
    const first = await machine.open({ at, isAfter })
    void first.start(planOf('a'), { number: 1 })
    await settle(machine)
    expect(machine.commands()).toEqual(running)

    const second = await machine.open()
    const run = second.runOf('a')
    if (running.length > 0) {
      expect(run).toMatchObject({
        number: 1,
        isAdopted: true,
        isOver: false,
        identity: { pid: machine.host.processes()[0]?.pid },
      })
      await expect(second.start(planOf('a'), { number: 2 })).rejects.toThrow('is not over')
    } else if (run) {
      // It is not known whether it was started and has ended: it counts as ended.
      expect(run).toMatchObject({ isOver: true, end: { reason: 'StartUnknown' } })
    }
    expect(machine.commands()).toEqual(running)
  })

  test('W8: killed while it stops a run: the next one ends it, and knows that the end was wanted', async () => {
    const machine = new Machine()
    const first = await machine.open({ at: 'signalProcess', isAfter: false })
    await started(first, planOf('a'))
    void first.end('a', stopPlan)
    await settle(machine)
    const second = await machine.open()
    expect(second.runOf('a')).toMatchObject({ isOver: false, stopReason: 'Stopped' })
    await second.end('a', stopPlan)
    await machine.clock.advance(2000)
    await second.end('a', stopPlan)
    expect(machine.commands()).toEqual([])
    expect(second.runOf('a')).toMatchObject({ isOver: true, stopReason: 'Stopped' })
  })

  test('an adopted run ends with an unknown exit code, which is noticed within a second', async () => {
    const machine = new Machine()
    const { identity } = await started(await machine.open(), planOf('a'))
    const second = await machine.open()
    const changes: string[] = []
    second.onChange((owner, note) => changes.push(`${owner.name}: ${note}`))
    machine.host.exit(identity?.pid ?? 0, { exitCode: 3 })
    await machine.clock.advance(1100)
    expect(second.runOf('a')?.end).toMatchObject({ reason: 'AdoptedExitUnknown' })
    expect(second.runOf('a')?.end).not.toHaveProperty('exitCode')
    expect(changes).toEqual(['a: its program ended with an unknown exit code (AdoptedExitUnknown)'])
  })

  test('an exit that was recorded before a crash is known after it', async () => {
    const machine = new Machine()
    const { identity } = await started(await machine.open(), planOf('a'))
    machine.host.exit(identity?.pid ?? 0, { exitCode: 3 })
    await settle(machine)
    expect((await machine.open()).runOf('a')).toMatchObject({ isOver: true, end: { exitCode: 3, reason: 'Exited' } })
  })

  test('W9: a stranger that got the pid between crash and restart is not signalled', async () => {
    const machine = new Machine()
    const { identity } = await started(await machine.open(), planOf('a'))
    const pid = identity?.pid ?? 0
    await machine.clock.advance(1000)
    machine.host.takePid(pid)
    const second = await machine.open()
    expect(second.runOf('a')).toMatchObject({ isOver: true, end: { reason: 'AdoptedExitUnknown' } })
    await second.end('a', stopPlan)
    await second.close()
    expect(machine.commands()).toEqual(['stranger'])
    expect(machine.host.signalsOf(pid)).toEqual([])
  })

  test('W9: a stranger that gets the pid while a run is being stopped is not signalled', async () => {
    const machine = new Machine()
    const session = await machine.open()
    const { identity } = await started(session, planOf('a', ['stubborn']))
    const pid = identity?.pid ?? 0
    await session.end('a', stopPlan)
    await machine.clock.advance(500)
    machine.host.takePid(pid)
    await machine.clock.advance(1000)
    await session.end('a', stopPlan)
    expect(machine.host.signalsOf(pid)).toEqual(['SIGTERM'])
    expect(machine.commands()).toEqual(['stranger'])
  })

  test('children that left the group are found after a crash by their mark, although their parent is gone', async () => {
    const machine = new Machine()
    const { identity } = await started(await machine.open(), planOf('a', ['daemon']))
    machine.host.exit(identity?.pid ?? 0, { signal: 'SIGKILL' })
    const second = await machine.open()
    expect(second.runOf('a')?.isOver).toBe(false)
    const first = await second.end('a', stopPlan)
    expect(first.survivors.map(({ command }) => command)).toEqual(['daemon child'])
    await machine.clock.advance(1100)
    expect((await second.end('a', stopPlan)).killed.map(({ command }) => command)).toEqual(['daemon child'])
    expect((await second.end('a', stopPlan)).isOver).toBe(true)
    expect(machine.commands()).toEqual([])
  })

  test('closing ends the runs of the session, leaves persistent ones, and starts nothing any more', async () => {
    const machine = new Machine()
    const session = await machine.open()
    await started(session, planOf('a'))
    await started(session, planOf('b', ['stubborn']))
    await started(session, planOf('c', ['serve forever'], 'persistent'))
    const closing = session.close()
    await machine.clock.advance(15_000)
    expect(await closing).toEqual([])
    expect(machine.commands()).toEqual(['serve forever'])
    await expect(session.start(planOf('d'), { number: 1 })).rejects.toThrow('the session is closing')
    expect((await machine.open()).runOf('c')).toMatchObject({ isAdopted: true, isOver: false })
  })

  test('a line that cannot be written does not hold up others: a start fails, a record is written later', async () => {
    const machine = new Machine()
    const session = await machine.open()
    const append = machine.files.appendText.bind(machine.files)
    machine.files.appendText = (path, text) =>
      /(?:^|\n)(?:start \S*\/b\/|started)/.test(text) ? Promise.reject(new Error('no space')) : append(path, text)
    const [a, b] = await Promise.allSettled([started(session, planOf('a')), started(session, planOf('b'))])
    expect([a.status, b.status]).toEqual(['fulfilled', 'rejected'])
    expect(machine.commands()).toEqual(['serve'])
    machine.files.appendText = append
    await started(session, planOf('c'))
    await settle(machine)
    expect(machine.files.contents['/data/session']).toMatch(/^started \S+\/a\/1 /m)
    expect(machine.files.contents['/data/session']).not.toContain('/b/1')
  })

  test('the file has the last run of each object, whatever happened before; a torn line is skipped', async () => {
    const machine = new Machine()
    const session = await machine.open()
    for (let number = 1; number <= 50; number++) {
      const { identity } = await started(session, planOf('a'), number)
      machine.host.exit(identity?.pid ?? 0, { exitCode: 0 })
      await session.end('a', stopPlan)
    }
    await started(session, planOf('b'))
    await settle(machine)
    await machine.files.appendText('/data/session', 'started 5f0c1d2e/session/a/51 12 34 {"bootI')
    const next = await machine.open()
    expect(next.runs().map(({ number, owner }) => `${owner.name} ${number}`)).toEqual(['a 50', 'b 1'])
    expect(machine.lines()).toHaveLength(7)
  })
})
