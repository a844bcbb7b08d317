/** Cases of Processes on a simulated machine that are about many of them, about names, and about what a spec may not say. */
import { defineController, type ControllerDeclaration, type Kind } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { sleep, type Clock } from 'evenkeel/unstable/base'
import { describe, expect, test } from 'vitest'
import { conditionOf, isReady, phaseIs, startSimulated } from './plane.fixture.ts'
import { Process } from './process-kind.ts'
import { Service } from './services/service-kind.ts'

const serve = { command: ['serve'] }
const inDefault = { namespace: 'default' }

describe('many Processes', () => {
  test('W43: 50 that are healthy: nothing is written in ten minutes', async () => {
    const world = await startSimulated()
    const names = Array.from({ length: 50 }, (_, index) => `web-${index}`)
    const probes = { liveness: { tcp: { port: '80' }, periodSeconds: 10 } }
    await Promise.all(names.map((name) => world.create(name, { ...serve, probes })))
    for (const name of names) await world.until(name, isReady)
    await world.plane.advance(60_000)
    const before = await world.client.list(Process, inDefault)
    await world.plane.advance(600_000)
    // The revision of a list is that of the store: it counts every write of every kind.
    const after = await world.client.list(Process, inDefault)
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion)
    expect(world.host.processes()).toHaveLength(50)
  })

  test('W50: reconciles of other controllers in the same program that do not end delay no stop', async () => {
    const order: string[] = []
    // One of them follows the same objects.
    const slow = (name: string, kind: Kind) =>
      defineController({
        name,
        for: kind,
        reconcile: async (
          _object: object,
          { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
        ) => {
          order.push(`${name} begins`)
          await sleep(clock, 600_000, { signal })
          order.push(`${name} ends`)
        },
      } as never) as ControllerDeclaration<Kind, ManagedContext>
    const world = await startSimulated({ beside: [slow('settings', ConfigMap), slow('observer', Process)] })
    for (let index = 0; index < 20; index++)
      await world.client.create(ConfigMap, { metadata: { name: `settings-${index}`, ...inDefault } })
    await world.create('web', serve)
    const { status } = await world.until('web', isReady)
    await world.plane.until(() => ['settings begins', 'observer begins'].every((name) => order.includes(name)))
    let signalledMs = Infinity
    const send = world.host.signalProcess.bind(world.host)
    world.host.signalProcess = (...parameters) => {
      signalledMs = world.plane.clock.monotonic()
      order.push('SIGTERM')
      return send(...parameters)
    }
    order.length = 0
    const fromMs = world.plane.clock.monotonic()
    await world.patch('web', { running: false })
    await world.until('web', phaseIs('Stopped'))
    order.push('stopped')
    expect(world.host.signalsOf(status?.run?.pid ?? 0)).toEqual(['SIGTERM'])
    // Of simulated time, which only the looks of `until` move.
    expect(signalledMs - fromMs).toBeLessThan(50)
    expect(order.filter((each) => !each.endsWith('begins'))).toEqual(['SIGTERM', 'stopped'])
    // They were in the way all the time.
    await world.plane.advance(600_000)
    expect(order.filter((each) => each.endsWith('ends')).length).toBeGreaterThan(1)
  })
})

describe('W46: names', () => {
  test('of 63 characters work everywhere: Process, port, Service and its endpoint, logs', async () => {
    const name = `a${'-b'.repeat(31)}`
    expect(name).toHaveLength(63)
    const world = await startSimulated()
    const labels = { [`example.com/${name}`]: name }
    await world.client.create(Process, {
      metadata: { name, ...inDefault, labels },
      spec: { ...serve, ports: [{ name }] },
    } as never)
    await world.client.create(Service, {
      metadata: { name, ...inDefault },
      spec: { selector: { matchLabels: labels }, targetPort: name },
    } as never)
    const { status } = await world.until(name, isReady)
    expect(status?.run?.ports).toMatchObject([{ name }])
    expect(status?.run?.logFile).toContain(`/${name}/`)
    await world.plane.until(
      async () => (await world.client.get(Service, { name, ...inDefault })).status?.endpoints === 1,
    )
    await world.remove(name)
    await world.untilGone(name)
  })
})

describe('W31: a watched environment file', () => {
  test('restarts the Process when it changes, with the new values', async () => {
    const world = await startSimulated()
    world.files.contents['/app/.env'] = 'COLOUR=red'
    await world.create('web', { ...serve, envFiles: [{ path: '.env' }], watch: { paths: ['.env'] } })
    const first = await world.until('web', isReady)
    expect(world.host.launchOf(first.status?.run?.pid ?? 0)?.env['COLOUR']).toBe('red')
    world.files.contents['/app/.env'] = 'COLOUR=blue'
    world.watcher.change('/app/.env')
    const second = await world.until('web', (object) => isReady(object) && object.status?.run?.number === 2)
    expect(world.host.launchOf(second.status?.run?.pid ?? 0)?.env['COLOUR']).toBe('blue')
    expect(second.status?.run?.cause).toContain('.env')
    expect(JSON.stringify(second.status)).not.toContain('blue')
  })
})

describe('W33: a persistent Process', () => {
  test('that gets another spec is started again, and the cause names fields, never values', async () => {
    const world = await startSimulated()
    await world.create('db', { ...serve, lifetime: 'Persistent', env: [{ name: 'PASSWORD', value: 'old-hunter' }] })
    const { status } = await world.until('db', isReady)
    await world.patch('db', { lifetime: 'Persistent', env: [{ name: 'PASSWORD', value: 'old-hunter' }] })
    await world.plane.advance(60_000)
    expect((await world.get('db')).status?.run?.pid).toBe(status?.run?.pid)
    await world.patch('db', { command: ['serve', 'again'], env: [{ name: 'PASSWORD', value: 'new-hunter' }] })
    const changed = await world.until('db', (object) => isReady(object) && object.status?.run?.number === 2)
    expect(changed.status?.run?.cause).toBe('spec.command, spec.env changed')
    expect(JSON.stringify([changed.status, await world.events('db')])).not.toContain('hunter')
  })
})

describe('A.4: a Process', () => {
  const either = 'write either command (a list) or shell (a text for /bin/sh)'
  test.each([
    [{ command: [] }, 'spec.command', 'should have at least 1 items'],
    [{ command: [''], shell: 'a' }, 'spec', either],
    [{}, 'spec', either],
    [{ command: 'node server.js' }, 'spec.command', 'must be of type array'],
    [{ ...serve, ports: [{ name: 'http', port: -1 }] }, 'spec.ports[0].port', 'should be greater than or equal to 0'],
    [{ ...serve, ports: [{ name: 'http', port: 'http' }] }, 'spec.ports[0].port', 'must be of type integer'],
    [
      { ...serve, ports: [{ name: 'http', port: 70_000 }] },
      'spec.ports[0].port',
      'should be less than or equal to 65535',
    ],
    [{ ...serve, probes: { readiness: { tcp: {} } } }, 'spec.probes.readiness.tcp.port', 'Required value'],
    [{ ...serve, probes: { readiness: { http: {} } } }, 'spec.probes.readiness.http.port', 'Required value'],
    [
      { ...serve, probes: { readiness: {} } },
      'spec.probes.readiness',
      'a probe has exactly one of http, tcp, exec and logLine',
    ],
    [
      { ...serve, probes: { liveness: { tcp: { port: '80' }, periodSeconds: 0 } } },
      'spec.probes.liveness.periodSeconds',
      'should be greater than or equal to 0.05',
    ],
    [
      { ...serve, watch: { paths: ['a'], debounceSeconds: 0 } },
      'spec.watch.debounceSeconds',
      'should be greater than or equal to 0.01',
    ],
    [{ ...serve, stop: { signal: 'SIGFOO' } }, 'spec.stop.signal', 'supported values: "SIGTERM", "SIGINT", "SIGQUIT"'],
    [
      { ...serve, stop: { gracePeriodSeconds: -1 } },
      'spec.stop.gracePeriodSeconds',
      'should be greater than or equal to 0',
    ],
    [{ ...serve, env: [{ name: 'A=B' }] }, 'spec.env[0].name', "should match '^[^=]+$'"],
  ])('%j is refused in one line, with the path of the field and what it may be', async (spec, path, instead) => {
    const world = await startSimulated()
    const refused = await world.create('web', spec).catch((error: unknown) => error)
    const { message } = refused as Error
    expect(message.split('\n')).toHaveLength(1)
    expect(message).toMatch(new RegExp(`[ [](?:${path.replace(/[.[\]]/g, '\\$&')}): `))
    expect(message).toContain(instead)
    expect(world.host.processes()).toEqual([])
  })

  test('in a namespace that does not exist is refused with its name', async () => {
    const { client } = await startSimulated()
    const object = { metadata: { name: 'web', namespace: 'missing' }, spec: serve }
    await expect(client.create(Process, object as never)).rejects.toThrow(/namespaces? "missing" not found/)
  })

  test('a path outside of the project is watched, and a condition names it', async () => {
    const world = await startSimulated()
    await world.create('web', { ...serve, watch: { paths: ['src', '/etc/app.conf', '../shared'] } })
    const object = await world.until('web', (one) => conditionOf(one, 'FilesWatched') !== undefined)
    expect(conditionOf(object, 'FilesWatched')).toMatchObject({
      status: 'True',
      reason: 'OutsideOfProject',
      message: 'outside of /app: /etc/app.conf, /shared',
    })
    await world.patch('web', { watch: { paths: ['src'] } })
    await world.until('web', (one) => conditionOf(one, 'FilesWatched') === undefined)
  })

  test('two Processes that have the address of each other in a variable both start: no address waits for a program', async () => {
    const world = await startSimulated()
    const wired = (name: string, other: string) => ({
      ...serve,
      ports: [{ name: 'http' }],
      env: [{ name: 'OTHER', valueFrom: { service: { name: other } } }],
      labels: { app: name },
    })
    for (const [name, other] of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const) {
      const { labels, ...spec } = wired(name, other)
      await world.client.create(Process, { metadata: { name, ...inDefault, labels }, spec } as never)
      await world.client.create(Service, {
        metadata: { name, ...inDefault },
        spec: { selector: { matchLabels: labels }, targetPort: 'http' },
      } as never)
    }
    for (const name of ['a', 'b']) await world.until(name, isReady)
    const urls = world.host.processes().map(({ pid }) => world.host.launchOf(pid)?.env['OTHER'])
    expect(new Set(urls).size).toBe(2)
    for (const url of urls) expect(url).toMatch(/^\w+:\/\/127\.0\.0\.1:\d+$/)
  })
})
