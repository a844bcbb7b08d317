import { get } from 'node:http'
import { describe, expect, test } from 'vitest'
import { deferred, onAbort } from '#base'
import { declareKind } from '#api'
import type { Kind } from '#api'
import { GraceExceededError } from '#manager'
import type { RunFunction } from '#manager'
import { SelfSignedCertificates, Webhooks } from '#webhook'
import { Note, World } from './world.fixture.ts'

const ConfigMap: Kind = declareKind({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })

/** Until the signal aborts. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    onAbort(signal, () => {
      resolve()
    })
  })
}

function noting(order: string[], name: string): RunFunction {
  return async (signal) => {
    order.push(`+ ${name}`)
    await aborted(signal)
    order.push(`- ${name}`)
  }
}

function statusOf(url: string): Promise<number> {
  return new Promise((resolve) => {
    get(`${url}/healthz`, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    }).on('error', () => {
      resolve(0)
    })
  })
}

function answerOf(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      let text = ''
      response
        .setEncoding('utf8')
        .on('data', (piece: string) => {
          text += piece
        })
        .on('end', () => {
          resolve(text)
        })
    }).on('error', reject)
  })
}

describe('Manager', () => {
  test('case 118: it starts in order, stops in the opposite one, and caches outlive workers', async () => {
    const world = await World.start()
    const order: string[] = []
    const once = (entry: string): void => {
      if (!order.includes(entry)) order.push(entry)
    }
    world.between = (request, next) => {
      const [, what] = /\/(notes|configmaps|leases)(?:[/?]|$)/.exec(request.target) ?? []
      if (what === 'leases') once('+ election')
      else if (what !== undefined && request.method === 'GET') {
        const watched = what === 'notes' ? 'warm-up' : 'caches'
        once(`+ ${watched}`)
        if (request.target.includes('watch='))
          onAbort(request.signal, () => {
            once(`- ${watched}`)
          })
      }
      return next(request)
    }
    const webhooks = new Webhooks({ clock: world.clock })
    let url = ''
    const manager = world.manager({
      // Real sockets take real time, while the clock of this test runs as fast as it can.
      gracePeriodMs: Infinity,
      leaderElection: {},
      endpoints: {
        onListening: (at) => {
          order.push('+ endpoints')
          url = at
        },
      },
      webhooks: {
        webhooks,
        port: 0,
        certificates: new SelfSignedCertificates({ names: ['127.0.0.1'], clock: world.clock }),
        onListening: () => {
          order.push('+ webhooks')
        },
      },
      controllers: [
        {
          for: Note,
          async reconcile(_, { signal }) {
            order.push('+ worker')
            await aborted(signal)
            order.push('- worker')
          },
        },
      ],
    })
    manager.cache.getInformer(ConfigMap)
    manager.add(noting(order, 'leader'))
    manager.add(
      async (signal) => {
        order.push('+ everywhere')
        await aborted(signal)
        order.push(`- everywhere, endpoints answer ${await statusOf(url)}`)
      },
      { needsLeader: false },
    )
    await world.write('a', 'x')
    const running = world.run(manager)
    await world.until(() => order.includes('+ worker'))
    expect(order).toEqual([
      '+ endpoints',
      '+ webhooks',
      '+ caches',
      '+ everywhere',
      '+ warm-up',
      '+ election',
      '+ leader',
      '+ worker',
    ])
    order.length = 0
    await running.stop()
    expect(running.end).toEqual({})
    expect([...order.slice(0, 2)].sort()).toEqual(['- leader', '- worker'])
    expect(order.slice(2)).toEqual(['+ election', '- warm-up', '- everywhere, endpoints answer 200', '- caches'])
    expect(await statusOf(url)).toBe(0)
    await world.server.stop()
    expect(world.clock.pending).toBe(0)
  })

  test('case 119: a runnable that fails stops everything with its error', async () => {
    const world = await World.start()
    const [order, failing] = [[] as string[], deferred<void>()]
    const manager = world.manager({ runnables: [{ name: 'bad', run: () => failing.promise }] })
    manager.add(noting(order, 'leader'))
    manager.add(noting(order, 'everywhere'), { needsLeader: false })
    const running = world.run(manager)
    await world.until(() => order.length === 2)
    failing.reject(new Error('the disk is on fire'))
    await world.until(() => running.end !== undefined)
    expect(running.end).toEqual({ error: new Error('the disk is on fire') })
    expect(order).toEqual(['+ everywhere', '+ leader', '- leader', '- everywhere'])
    await expect(manager.run(new AbortController().signal)).rejects.toThrow('has already run')
    expect(() => {
      manager.add(noting(order, 'late'))
    }).toThrow('has stopped')
  })

  test('case 119: what does not stop within the grace period is reported, by object, and its writes are refused', async () => {
    const world = await World.start()
    const [held, wrote] = [deferred<void>(), deferred<unknown>()]
    const running = world.run(
      world.manager({
        leaderElection: {},
        controllers: [
          {
            for: Note,
            async reconcile(note, { client }) {
              await held.promise
              await client.patchStatus(note, { text: 'too late' }).then(wrote.resolve, wrote.resolve)
            },
          },
        ],
      }),
    )
    await world.write('a', 'x')
    await world.until(() => world.said('became leader'))
    await world.clock.advance(1000)
    running.abort()
    await world.clock.advance(29_000)
    expect(running.end).toBeUndefined()
    await running.stop()
    expect(running.end?.error).toBeInstanceOf(GraceExceededError)
    expect((running.end?.error as Error).message).toMatch(
      /^some tasks did not stop within 30000 ms: controller note \(reconciling .*Note.*default\/a\)$/,
    )
    // The lease was kept as long as it was waited for, and is not any more.
    const renewals = (): number => world.calls.filter((call) => call.includes('/leases/')).length
    const kept = renewals()
    await world.clock.advance(60_000)
    expect([kept > 10, renewals()]).toEqual([true, kept])
    held.resolve()
    expect(String(await wrote.promise)).toMatch(/the controller stops|lease not verified/)
    expect(await world.read('a')).toBeUndefined()
  })

  test('what is added while it runs is started', async () => {
    const world = await World.start()
    const order: string[] = []
    const manager = world.manager()
    const running = world.run(manager)
    await world.until(() => manager.isLeading)
    await world.clock.advance(100)
    manager.add(noting(order, 'leader'))
    manager.add(noting(order, 'everywhere'), { needsLeader: false })
    manager.addController({
      for: Note,
      reconcile: (_, { status }) => {
        status.set({ text: 'seen' })
      },
    })
    manager
      .recorder('late')
      .event(
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default', uid: 'u' } },
        { type: 'Normal', reason: 'Seen', action: 'See', note: 'hello' },
      )
    await world.write('a', 'x')
    await world.until(async () => (await world.read('a')) === 'seen')
    await world.until(() => world.calls.some((call) => call.startsWith('POST /apis/events.k8s.io')))
    expect(order).toEqual(['+ leader', '+ everywhere'])
    expect(() => {
      manager.addController({ for: Note, needsLeader: false, reconcile: () => undefined })
    }).toThrow('two controllers have the name note')
    await running.stop()
    expect(running.end).toEqual({})
  })

  test('endpoints tell how it is, what it counts and what its controllers did; a reconcile records events', async () => {
    const world = await World.start()
    let url = ''
    const manager = world.manager({
      gracePeriodMs: Infinity,
      endpoints: {
        onListening: (at) => {
          url = at
        },
      },
    })
    manager.addController({
      for: Note,
      reconcile(_, { event, status }) {
        event({ type: 'Normal', reason: 'Seen', action: 'Look', note: 'it was seen' })
        status.set({ text: 'seen' })
      },
    })
    const running = world.run(manager)
    await world.write('a', 'x')
    await world.until(
      async () =>
        (await world.read('a')) === 'seen' &&
        world.calls.some((call) => call === 'POST /apis/events.k8s.io/v1/namespaces/default/events'),
    )
    expect(await answerOf(`${url}/readyz?verbose`)).toBe('[+]ping ok\n[+]controller-note ok\nreadyz check passed\n')
    const shown = await answerOf(`${url}/metrics`)
    for (const line of [
      /^controller_runtime_reconcile_total\{controller="note",result="success"\} [12]$/m,
      /^rest_client_requests_total\{code="200",host="in-process",method="PATCH"\} [1-9]/m,
      /^process_cpu_seconds_total \d/m,
      /^process_resident_memory_bytes [1-9]/m,
      /^evenkeel_cache_objects\{group="test\.dev",kind="Note"\} 1$/m,
    ])
      expect(shown).toMatch(line)
    const { controllers, runs } = JSON.parse(await answerOf(`${url}/debug/reconciles`)) as {
      controllers: { name: string }[]
      runs: { writes: { object: string }[] }[]
    }
    expect([controllers.map(({ name }) => name), runs.at(-1)?.writes[0]?.object]).toEqual([
      ['note'],
      'default/test.dev/Note/default/a',
    ])
    await running.stop()
    expect(running.end).toEqual({})
  })

  test('a controller of some objects of its kind hears of no others', async () => {
    const world = await World.start()
    const manager = world.manager()
    const seen = new Set<string>()
    manager.addController({
      for: Note,
      fieldSelector: { 'metadata.name': 'b' },
      reconcile: ({ metadata: { name } }) => {
        seen.add(name)
      },
    })
    const running = world.run(manager)
    for (const name of ['a', 'b', 'c']) await world.write(name, 'x')
    await world.until(() => seen.has('b'))
    await running.stop()
    expect([...seen]).toEqual(['b'])
  })

  test('options that cannot be meant are refused by name', async () => {
    const world = await World.start()
    expect(() => world.manager({ gracePeriodMs: -1 })).toThrow('gracePeriodMs')
    expect(() => world.manager({ name: '' })).toThrow('name')
    expect(() =>
      world.manager({ config: { origin: 'x', server: 'https://127.0.0.1:1', namespace: 'default' } }),
    ).toThrow('either a transport or a config')
  })
})
