import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { declareKind, defineKind } from '#api'
import { SeededRandom, SimulatedClock } from '#base'
import type { ClientOptions, ConnectionConfig, Host } from '#client'
import { makeCluster, type Grant } from './cluster.ts'
import { Manager, type ManagerOptions } from './manager.ts'
import { rbacOf } from './rbac.ts'

type Transport = ClientOptions['transport']

const Thing = defineKind({ group: 'demo.example.com', version: 'v1', kind: 'Thing' })
const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })

const missing = JSON.stringify({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  reason: 'NotFound',
  code: 404,
  details: { name: 'one', kind: 'things' },
})
const notFound: Transport = () =>
  Promise.resolve({
    status: 404,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(missing),
  })

function managed(options: Partial<ManagerOptions> = {}): Manager {
  const clock = new SimulatedClock()
  return new Manager({ name: 'it', transport: notFound, clock, random: new SeededRandom(1), ...options })
}

describe('rules of a manager', () => {
  const grantsOf = async (
    options: Partial<ManagerOptions>,
    asked: readonly Grant[],
  ): Promise<{ grants: readonly boolean[]; targets: readonly string[] }> => {
    const targets: string[] = []
    let grants: readonly boolean[] = []
    const manager = managed({
      ...options,
      rules: {
        onRequest: ({ target }, facts) => {
          targets.push(target)
          // Twice: the second answer may come from memory.
          grants = asked.map((grant) => facts.grants(grant) && facts.grants(grant))
        },
        findings: () => [],
      },
    })
    await manager.client.find(Thing, { name: 'one', namespace: 'a' })
    return { grants, targets }
  }
  const asked: readonly Grant[] = [
    { verb: 'get', group: 'demo.example.com', resource: 'things' },
    { verb: 'delete', group: 'demo.example.com', resource: 'things' },
    { verb: 'get', group: 'other.example.com', resource: 'things' },
    { verb: 'get', group: 'demo.example.com', resource: 'secrets' },
    { verb: 'deletecollection', group: 'any.example.com', resource: 'anything' },
  ]

  test('see every request before it is sent, and what the declared controllers are allowed to do', async () => {
    const controllers = [{ for: Thing, reconcile: () => undefined }]
    const { grants, targets } = await grantsOf({ controllers: controllers as never }, asked)
    expect(targets).toEqual(['/apis/demo.example.com/v1/namespaces/a/things/one'])
    expect(grants).toEqual([true, false, false, false, false])
  })

  test('know that * allows everything', async () => {
    const rbac = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
    const controllers = [{ for: Thing, rbac, reconcile: () => undefined }]
    expect((await grantsOf({ controllers: controllers as never }, asked)).grants).toEqual(asked.map(() => true))
  })

  test('find nothing missing in a program without rules of its own', async () => {
    expect((await grantsOf({}, asked)).grants).toEqual(asked.map(() => true))
  })
})

describe('makeCluster', () => {
  const clock = new SimulatedClock()
  const config: ConnectionConfig = { origin: 'a test', server: 'http://127.0.0.1:1', namespace: 'shop' }
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'login' } as never
  const open = (more: Partial<ManagerOptions>): ReturnType<typeof makeCluster> =>
    makeCluster({ name: 'it', clock, ...more }, { plugins: [], rbac: () => rbacOf({ name: 'it', declarations: [] }) })

  test('shares credentials where getting them runs a program or uses a host of its own', () => {
    const host: Host = { env: {}, readFile: () => Promise.resolve('') } as never
    expect(open({ config }).connection.credentials).toBeUndefined()
    expect(open({ config: { ...config, exec } }).connection.credentials).toBeDefined()
    expect(open({ config, host }).connection.credentials).toBeDefined()
  })

  test('elects a leader by default over the network, and not for a server in this process', () => {
    expect([open({ config }).election, open({ transport: notFound }).election]).toEqual([{}, false])
    expect([open({ config }).connection.namespace, open({ transport: notFound }).connection.namespace]).toEqual([
      'shop',
      'default',
    ])
    const shared = open({ transport: notFound })
    expect(shared.leaderClient).toBe(shared.client)
  })

  test.each<[Partial<ManagerOptions>, string]>([
    [{ name: '', transport: notFound }, 'a manager needs a name: set the option name'],
    [{}, 'a manager needs either a transport or a config'],
    [{ config, transport: notFound }, 'a manager needs either a transport or a config'],
  ])('refuses %j', (options, message) => {
    expect(() => open(options)).toThrow(message)
  })
})

describe('Manager', () => {
  test('needs no discovery for the kinds of its controllers and their children', async () => {
    const targets: string[] = []
    const manager = managed({
      transport: (request) => {
        targets.push(request.target)
        return notFound(request)
      },
    })
    const Other = declareKind({ group: 'demo.example.com', version: 'v1', kind: 'Ox', plural: 'oxen' })
    manager.addController({ for: Thing, owns: [ConfigMap, { kind: Other }], reconcile: () => undefined })
    for (const { apiVersion, kind } of [Thing, ConfigMap, Other])
      for (const client of [manager.client, manager.leaderClient])
        await client.find({ apiVersion, kind }, { name: 'one', namespace: 'a' })
    expect([...new Set(targets)]).toEqual([
      '/apis/demo.example.com/v1/namespaces/a/things/one',
      '/api/v1/namespaces/a/configmaps/one',
      '/apis/demo.example.com/v1/namespaces/a/oxen/one',
    ])
    expect(manager.ledger.entries()).toEqual([])
  })

  test('needs permission for its lease where it elects a leader', () => {
    const leases = (manager: Manager): boolean =>
      manager.rbac().scopes.some(({ rules }) => rules.some(({ resources }) => resources.includes('leases')))
    expect([leases(managed()), leases(managed({ leaderElection: {} }))]).toEqual([false, true])
  })

  test('gives the controller that it has added, and one recorder for each name', () => {
    const manager = managed()
    const controller = manager.addController({ for: Thing, name: 'things', reconcile: () => undefined })
    expect([controller.name, controller.declaration.for]).toEqual(['things', Thing])
    expect(manager.recorder('a')).toBe(manager.recorder('a'))
    expect(manager.recorder('a')).not.toBe(manager.recorder('b'))
    expect(manager.recorder()).toBe(manager.recorder('it'))
  })

  test('that is never run closes its connections when it is closed', async () => {
    const server = createServer({ keepAliveTimeout: 0 }, (_, response) => {
      response.writeHead(404, { 'content-type': 'application/json' }).end(missing)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const config: ConnectionConfig = { origin: 'a test', server: `http://127.0.0.1:${port}`, namespace: 'shop' }
    const manager = new Manager({ name: 'it', config, clock: new SimulatedClock(), random: new SeededRandom(1) })
    const connecting = once(server, 'connection') as Promise<[Socket]>
    await manager.client.find(Thing, { name: 'one', namespace: 'a' })
    const [socket] = await connecting
    const closed = once(socket, 'close')
    await manager.close()
    await closed
    server.close()
  })

  test('accepts no grace period and refuses a negative one, and a sync time of 0', () => {
    expect(() => managed({ gracePeriodMs: 0, cacheSyncMs: 1 })).not.toThrow()
    expect(() => managed({ gracePeriodMs: -1 })).toThrow('gracePeriodMs must be 0 or more, got -1')
    expect(() => managed({ cacheSyncMs: 0 })).toThrow('cacheSyncMs must be above 0, got 0')
  })
})
