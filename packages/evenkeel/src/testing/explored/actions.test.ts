import { describe, expect, test } from 'vitest'
import { defineKind, Operation } from '#api'
import type { Kind, OperationObject } from '#api'
import type { ControllerDeclaration } from '#controller'
import { Manager } from '#manager'
import { action } from '#verbs'
import { ProgramWorld } from './program.fixture.ts'

const options = {
  group: 'demo.example.com',
  version: 'v1',
  kind: 'App',
  reports: ['actions'],
  spec: { type: 'object', properties: { running: { type: 'boolean' } } },
  status: { type: 'object', properties: { isUp: { type: 'boolean' } } },
} as const
const App = defineKind(options)
const place = { name: 'web', namespace: 'default' }
const path = '/apis/demo.example.com/v1/namespaces/default/apps/web'

interface Done {
  readonly restarts: string[]
  readonly backups: string[]
}

const usage = action('usage', {
  form: 'call',
  input: { type: 'object', properties: { of: { type: 'string' } } },
  answer: ({ object, input }) => {
    if ((input as { of?: string } | undefined)?.of === 'nothing') throw new Error('nothing cannot be measured')
    return { of: object.metadata.name ?? '', bytes: 12 }
  },
})

function program(
  done: Done,
  { policy, ttlSeconds }: { policy?: 'Forbid' | 'Queue' | 'Replace'; ttlSeconds?: number } = {},
): ControllerDeclaration<typeof App> {
  const stop = action('stop', { form: 'state', patch: { spec: { running: false } } })
  const restart = action<{ gently?: boolean }>('restart', {
    form: 'token',
    input: { type: 'object', properties: { gently: { type: 'boolean' } } },
  })
  const backup = action<{ to: string }, { bytes: number }>('backup', {
    form: 'operation',
    input: { type: 'object', properties: { to: { type: 'string' } } },
    ...(policy && { policy }),
    ...(ttlSeconds !== undefined && { ttlSeconds }),
  })
  return {
    for: App,
    verbs: [stop, restart, backup, usage],
    async reconcile(app, context) {
      await restart.handle(context, ({ token }) => {
        done.restarts.push(token)
      })
      await backup.handle(context, ({ operation, input }) => {
        if (input?.to === 'nowhere') throw new Error('there is no nowhere')
        done.backups.push(operation.metadata.name ?? '')
        return { bytes: 7 }
      })
      context.status.set({ isUp: app.spec.running ?? true })
    },
  }
}

async function begin(done: Done, options: Parameters<typeof program>[1] = {}): Promise<ProgramWorld> {
  const world = await ProgramWorld.start(program(done, options))
  await world.client.create(App, { metadata: place, spec: { running: true } })
  return world
}

async function operations(world: ProgramWorld): Promise<readonly OperationObject[]> {
  return (await world.client.list(Operation)).items
}

describe('action', () => {
  test('A34: a restart token is handled once across three restarts of the controller', async () => {
    const done: Done = { restarts: [], backups: [] }
    await using world = await begin(done)
    world.run()
    const { body } = await world.post(`${path}/restart`, { input: { gently: true } })
    await world.settle()
    for (let life = 0; life < 3; life++) {
      await world.stop()
      world.run()
      await world.settle()
    }
    expect(done.restarts).toEqual([body['token']])
    expect((await world.client.get(App, place)).status?.actions).toMatchObject([
      { name: 'restart', lastHandled: body['token'], state: 'Done' },
    ])
    await world.post(`${path}/restart`)
    await world.settle()
    expect(done.restarts).toHaveLength(2)
  })

  test('A34: a crash between effect and status repeats the effect, and then never again', async () => {
    const done: Done = { restarts: [], backups: [] }
    await using world = await begin(done)
    let isDown = true
    world.between = (request, next) =>
      isDown && request.target.includes('/apps/web/status') ? Promise.reject(new Error('it died here')) : next(request)
    await world.post(`${path}/restart`)
    world.run()
    await world.settle(100)
    await world.stop()
    isDown = false
    const before = done.restarts.length
    world.run()
    await world.settle()
    expect([before > 0, done.restarts.length - before, new Set(done.restarts).size]).toEqual([true, 1, 1])
  })

  test('A37: what was asked for while no controller ran is done when it returns: a state, a token, an operation', async () => {
    const done: Done = { restarts: [], backups: [] }
    await using world = await begin(done)
    for (const name of ['stop', 'restart', 'backup'])
      expect((await world.post(`${path}/${name}`)).status).toBeLessThan(300)
    await world.settle()
    expect(done).toEqual({ restarts: [], backups: [] })
    world.run()
    await world.settle()
    expect([done.restarts.length, done.backups.length, (await world.client.get(App, place)).status?.isUp]).toEqual([
      1,
      1,
      false,
    ])
    expect(await operations(world)).toMatchObject([{ status: { phase: 'Succeeded', result: { bytes: 7 } } }])
  })

  test('A36: Forbid refuses the second, Queue does one after the other, Replace does the last', async () => {
    const phases: Record<string, readonly (string | undefined)[]> = {}
    for (const policy of ['Forbid', 'Queue', 'Replace'] as const) {
      const done: Done = { restarts: [], backups: [] }
      await using world = await begin(done, { policy })
      for (let count = 0; count < 3; count++) {
        await world.post(`${path}/backup`, { input: { to: String(count) } })
        await world.settle(1000)
      }
      world.run()
      await world.settle()
      phases[policy] = (await operations(world))
        .toSorted((a, b) => String(a.metadata.creationTimestamp).localeCompare(String(b.metadata.creationTimestamp)))
        .map(({ status }) => status?.phase)
    }
    expect(phases).toEqual({
      Forbid: ['Succeeded', 'Failed', 'Failed'],
      Queue: ['Succeeded', 'Succeeded', 'Succeeded'],
      Replace: ['Cancelled', 'Cancelled', 'Succeeded'],
    })
  })

  test('A36: a finished operation goes when its time is over, by itself', async () => {
    const done: Done = { restarts: [], backups: [] }
    await using world = await begin(done, { ttlSeconds: 30 })
    world.run()
    await world.post(`${path}/backup`)
    await world.settle()
    expect(await operations(world)).toHaveLength(1)
    await world.settle(35_000)
    expect(await operations(world)).toEqual([])
  })

  test('an operation that fails says why, one that is cancelled before it begins is not done', async () => {
    const done: Done = { restarts: [], backups: [] }
    await using world = await begin(done, { policy: 'Queue' })
    await world.post(`${path}/backup`, { input: { to: 'nowhere' } })
    await world.settle(1000)
    await world.post(`${path}/backup`)
    const [, second] = (await operations(world)).toSorted((a, b) =>
      String(a.metadata.creationTimestamp).localeCompare(String(b.metadata.creationTimestamp)),
    )
    await world.client.patch(second as OperationObject, { spec: { cancel: true } })
    world.run()
    await world.settle()
    const ended = (await operations(world)).map(({ status }) => [status?.phase, status?.message]).toSorted()
    expect(ended).toEqual([
      ['Cancelled', 'cancelled, or replaced by a later operation'],
      ['Failed', 'there is no nowhere'],
    ])
    expect(done.backups).toEqual([])
  })

  test('a call whose controller is in another process is answered as the result of an operation, which is gone after a minute', async () => {
    await using world = await begin({ restarts: [], backups: [] })
    world.run()
    expect(await world.post(`${path}/usage`)).toMatchObject({
      status: 202,
      body: { form: 'call', operation: { namespace: 'default' } },
    })
    await world.post(`${path}/usage`, { input: { of: 'nothing' } })
    await world.settle(1000)
    const ended = (await operations(world)).map(({ status }) => [status?.phase, status?.result ?? status?.message])
    expect(ended.toSorted()).toEqual([
      ['Failed', 'nothing cannot be measured'],
      ['Succeeded', { of: 'web', bytes: 12 }],
    ])
    await world.settle(65_000)
    expect(await operations(world)).toEqual([])
  })

  test('a quiet object with handled actions is not written', async () => {
    const done: Done = { restarts: [], backups: [] }
    await using world = await begin(done)
    world.run()
    await world.post(`${path}/restart`)
    await world.post(`${path}/backup`)
    await world.settle()
    world.writes.length = 0
    await world.settle(60_000)
    expect(world.writes).toEqual([])
  })

  test('says at once what cannot be meant', () => {
    expect(() => action('Restart', { form: 'token' })).toThrow('a word in lower case')
    expect(() => action('start', { form: 'state' })).toThrow('give patch')
    expect(() => action('usage', { form: 'call' } as never)).toThrow('needs the option answer')
  })

  test('F3: refuses a token action on a kind that cannot remember what was handled', async () => {
    const { reports: _, ...rest } = { ...options, kind: 'Forgetful' }
    const Forgetful = defineKind(rest)
    const restart = action('restart', { form: 'token' })
    const make = (kind: Kind): Manager =>
      new Manager({
        name: 'test',
        transport: () => Promise.reject(new Error('no server')),
        controllers: [{ for: kind, verbs: [restart] }],
      })
    expect(() => make(Forgetful)).toThrow(
      "action restart: the form 'token' needs status.actions of Forgetful, or every reconcile would perform it again: define its kind with a status and reports: ['actions']",
    )
    await make(App).close()
  })
})
