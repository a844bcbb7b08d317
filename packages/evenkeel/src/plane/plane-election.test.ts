import { afterEach, beforeEach, expect, test } from 'vitest'
import { declareKind, type KubeObject } from '#api'
import { onAbort, SeededRandom, silentLogger, SimulatedClock } from '#base'
import { Client } from '#client'
import { startServer, type Server } from '#server'
import { openMemoryStore, type Store } from '#store'
import { PlaneElection } from './plane-election.ts'
import { PlaneRun } from './plane-run.ts'
import { startPlane, type Plane } from './plane.ts'

interface LeaseObject extends KubeObject {
  readonly spec?: { readonly holderIdentity?: string }
}

const Lease = declareKind<LeaseObject>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  statusSubresource: false,
})
const Namespace = declareKind({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' })
const lease = { name: 'evenkeel-plane', namespace: 'kube-system' }

let clock: SimulatedClock
let store: Store
beforeEach(() => {
  clock = new SimulatedClock()
  store = openMemoryStore({ clock })
})
afterEach(() => store.close())

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let step = 0; step < 3000; step++) {
    if (await isSo()) return
    await clock.advance(20)
  }
  expect(await isSo()).toBe(true)
}

async function over(ending: Promise<unknown>): Promise<void> {
  let isOver = false
  const ended = ending.finally(() => {
    isOver = true
  })
  await until(() => isOver)
  await ended
}

/** A plane whose one controller says when it runs. */
async function startRun(server: Server, name: string, log: string[]): Promise<PlaneRun> {
  const seams = { clock, random: new SeededRandom(name), log: silentLogger }
  const run = async (signal: AbortSignal): Promise<void> => {
    log.push(`${name} runs`)
    await new Promise<void>((resolve) => {
      onAbort(signal, () => {
        resolve()
      })
    })
    log.push(`${name} ends`)
  }
  return PlaneRun.start({
    ...seams,
    caPem: undefined,
    tokenForSecret: () => '',
    delayMs: 0,
    transportFor: () => server.transport,
    election: new PlaneElection({ ...seams, transport: server.transport, times: {} }),
    controllers: [{ name, make: () => Promise.resolve({ runnables: [{ name, run }] }) }],
  })
}

test('of two planes on one store the controllers of one run, and those of the other once it stops', async () => {
  const [first, second] = (await Promise.all(
    ['a', 'b'].map((seed) => startServer({ clock, store, random: new SeededRandom(seed) })),
  )) as [Server, Server]
  const log: string[] = []
  const one = await startRun(first, 'one', log)
  await until(() => log.length > 0)
  const two = await startRun(second, 'two', log)
  await clock.advance(60_000)
  await over(two.idle())
  expect(log).toEqual(['one runs'])
  await over(one.stop())
  await until(() => log.length === 3)
  expect(log).toEqual(['one runs', 'one ends', 'two runs'])
  await over(two.stop())
  expect((await new Client({ transport: first.transport, clock }).get(Lease, lease)).spec?.holderIdentity).toBe('')
  await Promise.all([first.stop(), second.stop()])
})

test('a plane that loses the lease ends its controllers, and runs them again when it leads again', async () => {
  const server = await startServer({ clock, store })
  const client = new Client({ transport: server.transport, clock })
  const log: string[] = []
  const run = await startRun(server, 'one', log)
  await until(() => log.length > 0)
  const setHolder = async (holderIdentity: string): Promise<void> => {
    const held = await client.get(Lease, lease)
    await client.update({ ...held, spec: { ...held.spec, holderIdentity } })
  }
  await setHolder('thief')
  await until(() => log.length === 2)
  await setHolder('')
  await until(() => log.length === 3)
  expect(log).toEqual(['one runs', 'one ends', 'one runs'])
  await over(run.stop())
  await server.stop()
})

test('PlaneElection.gate lets nobody write who does not lead', async () => {
  const election = new PlaneElection({
    clock,
    random: new SeededRandom('x'),
    log: silentLogger,
    times: {},
    transport: () => Promise.reject(new Error('not asked')),
  })
  const asked: string[] = []
  const gated = election.gate(({ method }) => {
    asked.push(method)
    return Promise.resolve({ status: 200, headers: {} })
  })
  const request = { target: '/api/v1/namespaces', headers: {}, signal: new AbortController().signal }
  await gated({ ...request, method: 'GET' })
  await expect(gated({ ...request, method: 'POST' })).rejects.toThrow('lease not verified')
  expect(asked).toEqual(['GET'])
})

test('startPlane elects where the store is shared, and only there', async () => {
  const shared = new Proxy(store, {
    get(target, name) {
      const value: unknown = name === 'isShared' ? true : Reflect.get(target, name, target)
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value
    },
  })
  const planes: Plane[] = []
  for (const seed of ['a', 'b']) planes.push(await startPlane({ store: shared, clock, random: new SeededRandom(seed) }))
  const [one, two] = planes as [Plane, Plane]
  const client = new Client({ transport: two.transport, clock })
  await over(Promise.all([one.controllers.idle(), two.controllers.idle()]))
  const holder = (await client.get(Lease, lease)).spec?.holderIdentity
  expect(holder).toMatch(/./)
  await over(one.stop())
  await client.create(Namespace, { metadata: { name: 'shop' } })
  await client.delete({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  await until(async () => (await client.find(Namespace, { name: 'shop' })) === undefined)
  const next = (await client.get(Lease, lease)).spec?.holderIdentity
  expect([next === holder, next]).toEqual([false, expect.stringMatching(/./)])
  await over(two.stop())
  const alone = await startPlane({ clock })
  await over(alone.controllers.idle())
  expect(await new Client({ transport: alone.transport, clock }).find(Lease, lease)).toBeUndefined()
  await over(alone.stop())
  await expect(startPlane({ leaderElection: { leaseMs: 1 } })).rejects.toThrow(RangeError)
})
