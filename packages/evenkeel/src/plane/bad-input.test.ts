import { describe, expect, test } from 'vitest'
import { defineKind, forbidden, isForbidden } from '#api'
import { installKinds } from '#server'
import { Note, World } from './world.fixture.ts'

const text = { type: 'object', properties: { text: { type: 'string' } } } as const
const Late = defineKind({ group: 'late.dev', version: 'v1', kind: 'Late', spec: text, status: text })

/** An answer that refuses, as a server with other rules would give it. */
function refusal(message: string): { status: number; headers: Record<string, string>; body: Uint8Array } {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'Forbidden',
    code: 403,
  }
  return { status: 403, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(status)) }
}

describe('what others do wrong', () => {
  test('a missing kind is named, its controller waits for it, the others work', async () => {
    const world = await World.start()
    const manager = world.manager()
    manager.addController({
      for: Late,
      reconcile: (late, { status }) => {
        status.set({ text: late.spec.text ?? '' })
      },
    })
    manager.addController({
      for: Note,
      reconcile: (note, { status }) => {
        status.set({ text: note.spec.text ?? '' })
      },
    })
    const { missing } = await manager.preflight()
    expect(missing.map(({ message }) => message)).toEqual([
      'kind missing: the server has no Late (late.dev/v1); create the CustomResourceDefinition lates.late.dev: `npx evenkeel generate MODULE --only crds` prints it; its controller waits for it',
    ])
    const running = world.run(manager)
    await world.write('a', 'one')
    await world.until(async () => (await world.read('a')) === 'one')
    await world.until(() => (manager.controllers[0]?.health.problems.length ?? 0) > 0)
    expect(manager.controllers.map(({ name, health: { isReady, problems } }) => [name, isReady, problems])).toEqual([
      ['late', false, ['for Late: the server does not have this kind (yet)']],
      ['note', true, []],
    ])
    const installing = installKinds(world.server.transport, [Late], { clock: world.clock })
    await world.clock.advance(1000)
    await installing
    await world.client.create(Late, { metadata: { name: 'l', namespace: 'default' }, spec: { text: 'late' } })
    await world.until(
      async () => (await world.client.get(Late, { name: 'l', namespace: 'default' })).status !== undefined,
      { stepMs: 100 },
    )
    await running.stop()
    expect(running.end).toEqual({})
  })

  test('a missing permission is named by preflight and by the log, and the others work', async () => {
    const world = await World.start()
    let isAllowed = false
    world.between = async (request, next) => {
      if (!isAllowed && request.method === 'GET' && request.target.startsWith('/apis/late.dev'))
        return refusal(
          'lates.late.dev is forbidden: User "eve" cannot list resource "lates" in API group "late.dev" at the cluster scope',
        )
      if (!request.target.startsWith('/apis/auth')) return next(request)
      const review = JSON.parse(Buffer.from(request.body as Uint8Array).toString()) as {
        kind: string
        spec?: { resourceAttributes?: { resource?: string; verb?: string } }
      }
      const { resource, verb } = review.spec?.resourceAttributes ?? {}
      const status =
        review.kind === 'SelfSubjectReview'
          ? { userInfo: { username: 'eve' } }
          : { allowed: !(resource === 'lates' && verb === 'list') }
      return {
        status: 201,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify({ ...review, metadata: {}, status })),
      }
    }
    await Promise.all([installKinds(world.server.transport, [Late], { clock: world.clock }), world.clock.advance(1000)])
    const manager = world.manager()
    manager.addController({
      for: Late,
      reconcile: (late, { status }) => {
        status.set({ text: late.spec.text ?? '' })
      },
    })
    manager.addController({
      for: Note,
      reconcile: (note, { status }) => {
        status.set({ text: note.spec.text ?? '' })
      },
    })
    const { missing } = await manager.preflight()
    expect(missing).toMatchObject([
      {
        what: 'permission',
        group: 'late.dev',
        resource: 'lates',
        verbs: ['list'],
        identity: 'eve',
        message:
          'permission missing: eve cannot list lates (late.dev) in all namespaces; apply the roles of manager.rbac()',
      },
    ])
    const running = world.run(manager)
    await world.write('a', 'one')
    await world.until(async () => (await world.read('a')) === 'one')
    await world.until(() => world.said('cannot sync source; its controller waits for it'))
    expect(manager.controllers[0]?.health.problems[0]).toContain('User "eve" cannot list resource "lates"')
    isAllowed = true
    await world.client.create(Late, { metadata: { name: 'l', namespace: 'default' }, spec: { text: 'late' } })
    await world.until(
      async () => (await world.client.get(Late, { name: 'l', namespace: 'default' })).status !== undefined,
      { stepMs: 1000, steps: 300 },
    )
    await running.stop()
    expect(running.end).toEqual({})
  })

  test('a reconcile that throws a text, throws nothing, or is refused is retried with a back-off; the others go on', async () => {
    const world = await World.start()
    const manager = world.manager()
    const tries = new Map<string, number>()
    manager.addController({
      for: Note,
      reconcile(note, { status }) {
        const { name } = note.metadata
        tries.set(name, (tries.get(name) ?? 0) + 1)
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- what others throw is not ours to choose
        if (name === 'text') throw 'a text'
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- the same
        if (name === 'nothing') throw undefined
        if (name === 'refused') throw forbidden({ group: '', kind: 'secrets', name: 'x' }, 'not for you')
        status.set({ text: note.spec.text ?? '' })
      },
    })
    const running = world.run(manager)
    for (const name of ['text', 'nothing', 'refused', 'good']) await world.write(name, 'x')
    await world.until(async () => (await world.read('good')) === 'x')
    await world.clock.advance(2000)
    for (const name of ['text', 'nothing', 'refused']) expect(tries.get(name), name).toBeGreaterThan(5)
    expect(tries.get('good')).toBeLessThan(4)
    const failed = world.lines.filter(({ message }) => message === 'reconcile failed')
    expect(
      failed.some(
        ({ fields }) =>
          JSON.stringify(fields['error']).includes('a text') || String(fields['error']).includes('a text'),
      ),
    ).toBe(true)
    expect(failed.some(({ fields }) => isForbidden(fields['error']))).toBe(true)
    await running.stop()
    expect(running.end).toEqual({})
  })

  test('a reconcile that hangs is shown as stuck, and the others go on', async () => {
    const world = await World.start()
    const manager = world.manager({ gracePeriodMs: 1000 })
    manager.addController({
      for: Note,
      concurrency: 2,
      timeoutMs: 1000,
      reconcile(note, { status }) {
        if (note.metadata.name === 'stuck') return new Promise<undefined>(() => undefined)
        status.set({ text: note.spec.text ?? '' })
        return undefined
      },
    })
    const running = world.run(manager)
    for (const name of ['stuck', 'a', 'b']) await world.write(name, 'x')
    await world.until(async () => (await world.read('a')) === 'x' && (await world.read('b')) === 'x')
    await world.clock.advance(2000)
    expect(manager.controllers[0]?.health.problems).toEqual([
      expect.stringMatching(/^a worker is stuck: .*Note\/default\/stuck has been reconciled for 2 s$/),
    ])
    await world.clock.advance(30_000)
    const logged = world.lines.filter(
      ({ message }) => message === 'reconcile does not end: its object is not reconciled until it does',
    )
    expect(logged.map(({ fields }) => [fields['controller'], fields['object']])).toEqual([
      ['note', 'default/test.dev/Note/default/stuck'],
    ])
    await running.stop()
    expect(String(running.end?.error)).toMatch(/ms: controller note \(reconciling .*stuck\)/)
  })
})
