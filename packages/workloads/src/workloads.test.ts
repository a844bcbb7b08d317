/** The parts of a program together: what happens at its start and at its end. */
import type { Client } from 'evenkeel'
import { SeededRandom, SimulatedClock } from 'evenkeel/unstable/base'
import { describe, expect, test } from 'vitest'
import { Session } from './session.ts'
import { SimulatedLogFiles } from './logs/simulated-log-files.ts'
import { SimulatedFiles, SimulatedHost } from './simulated-host.ts'
import { workloads } from './workloads.ts'

const planOf = (uid: string, lifetime: 'session' | 'persistent', command: string) => ({
  owner: { uid, namespace: 'default', name: uid },
  lifetime,
  command: [command],
  cwd: '/',
  env: {},
  fingerprint: '',
  cause: 'a test',
  failures: 0,
  restarts: 0,
  ports: [],
  variables: [],
})

/** A machine on which a killed Evenkeel has left processes, and the program that comes after it. */
async function afterCrash(uids: readonly string[]) {
  const clock = new SimulatedClock()
  const host = new SimulatedHost({ clock })
  const files = new SimulatedFiles()
  const killed = new Session({ host, files, clock, folder: '/data', name: 'killed' })
  await killed.open()
  await killed.start(planOf('a', 'session', 'serve a'), { number: 1 })
  await killed.start(planOf('b', 'session', 'serve b'), { number: 1 })
  await killed.start(planOf('c', 'persistent', 'serve c'), { number: 1 })
  const logFiles = new SimulatedLogFiles({ clock })
  const { runnables } = workloads({ folder: '/data', host, files, logFiles, clock, random: new SeededRandom('next') })
  const list = () => Promise.resolve({ items: uids.map((uid) => ({ metadata: { uid } })) })
  const stopping = new AbortController()
  const [runnable] = runnables
  const running = runnable?.run(stopping.signal, { client: { list } as unknown as Client, cache: undefined as never })
  const commands = (): string[] => host.processes().map(({ command }) => command)
  return { clock, files, stopping, running, commands }
}

describe('workloads', () => {
  test('at its start ends what a killed Evenkeel left, unless an object asks for it or it is persistent', async () => {
    const { clock, files, stopping, running, commands } = await afterCrash(['a'])
    await clock.advance(2000)
    expect(commands()).toEqual(['serve a', 'serve c'])
    expect(files.contents['/data/session']).toMatch(/^forget killed\/session\/b\/1 /m)
    stopping.abort()
    await clock.advance(2000)
    await running
  })

  test('at its end it ends all but the persistent ones', async () => {
    const { clock, stopping, running, commands } = await afterCrash(['a', 'b', 'c'])
    await clock.advance(1000)
    expect(commands()).toHaveLength(3)
    stopping.abort()
    await clock.advance(5000)
    await running
    expect(commands()).toEqual(['serve c'])
  })
})
