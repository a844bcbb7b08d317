import { describe, expect, test } from 'vitest'
import { declareKind, defineKind } from '#api'
import { installKinds } from '#server'
import { action, external, type Driver } from '#verbs'
import { Note, World } from './world.fixture.ts'

interface Review {
  readonly kind: string
  readonly spec?: { readonly resourceAttributes?: Readonly<Record<string, string>> }
}

type Answer = Readonly<Record<string, unknown>> | number

/** A manager whose reviews are answered by a function: the status of a review, or a code. */
async function reviewed(
  answer: (review: Review) => Answer,
): Promise<{ world: World; asked: Readonly<Record<string, string>>[] }> {
  const world = await World.start()
  const asked: Readonly<Record<string, string>>[] = []
  world.between = (request, next) => {
    if (!request.target.startsWith('/apis/auth')) return next(request)
    const review = JSON.parse(Buffer.from(request.body as Uint8Array).toString()) as Review
    if (review.spec?.resourceAttributes) asked.push(review.spec.resourceAttributes)
    const answered = answer(review)
    const reasons: Readonly<Record<number, string>> = { 401: 'Unauthorized', 403: 'Forbidden', 404: 'NotFound' }
    const body =
      typeof answered === 'number'
        ? {
            kind: 'Status',
            apiVersion: 'v1',
            status: 'Failure',
            code: answered,
            reason: reasons[answered],
            message: 'no',
          }
        : { ...review, metadata: {}, status: answered }
    return Promise.resolve({
      status: typeof answered === 'number' ? answered : 201,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(body)),
    })
  }
  return { world, asked }
}

const allowAll = ({ kind }: Review): Answer =>
  kind === 'SelfSubjectReview' ? { userInfo: { username: 'eve' } } : { allowed: true }

describe('Manager.preflight', () => {
  test('asks for each verb and resource once, with subresources, and for the lease by its name', async () => {
    const { world, asked } = await reviewed(allowAll)
    const manager = world.manager({ leaderElection: { name: 'my-lease', namespace: 'here' } })
    manager.addController({ for: Note, reconcile: () => undefined })
    manager.addController({ for: Note, name: 'other', reconcile: () => undefined })
    expect(await manager.preflight()).toEqual({ missing: [] })
    expect(asked.filter(({ resource }) => resource === 'notes')).toEqual([
      { group: 'test.dev', resource: 'notes', verb: 'get' },
      { group: 'test.dev', resource: 'notes', verb: 'list' },
      { group: 'test.dev', resource: 'notes', verb: 'watch' },
      { group: 'test.dev', resource: 'notes', verb: 'get', subresource: 'status' },
      { group: 'test.dev', resource: 'notes', verb: 'patch', subresource: 'status' },
      { group: 'test.dev', resource: 'notes', verb: 'update', subresource: 'status' },
    ])
    const group = 'coordination.k8s.io'
    expect(asked.filter(({ resource }) => resource === 'leases')).toEqual([
      { group, resource: 'leases', verb: 'create', namespace: 'here' },
      { group, resource: 'leases', verb: 'get', name: 'my-lease', namespace: 'here' },
      { group, resource: 'leases', verb: 'update', name: 'my-lease', namespace: 'here' },
    ])
  })

  test.each([403, 404])('names missing permissions, also where it cannot ask who it is (%d)', async (code) => {
    const { world } = await reviewed(({ kind, spec }) =>
      kind === 'SelfSubjectReview' ? code : { allowed: spec?.resourceAttributes?.['resource'] !== 'leases' },
    )
    const manager = world.manager({ leaderElection: { name: 'my-lease', namespace: 'here' } })
    manager.addController({ for: Note, reconcile: () => undefined })
    const { missing } = await manager.preflight()
    expect(missing.map(({ message }) => message)).toEqual([
      'permission missing: this user cannot create leases (coordination.k8s.io) in namespace "here"; apply the roles of manager.rbac()',
      'permission missing: this user cannot get, update leases (coordination.k8s.io) "my-lease" in namespace "here"; apply the roles of manager.rbac()',
    ])
  })

  test('counts as passed where access reviews are refused, and says why', async () => {
    const { world } = await reviewed(({ kind }) => (kind === 'SelfSubjectReview' ? 403 : 403))
    const manager = world.manager()
    manager.addController({ for: Note, reconcile: () => undefined })
    const { missing, unknown } = await manager.preflight()
    expect([missing, unknown]).toEqual([[], expect.stringContaining('cannot check permissions: ')])
  })

  test.each(['SelfSubjectReview', 'SelfSubjectAccessReview'])('rejects when %s is Unauthorized', async (refused) => {
    const { world } = await reviewed((review) => (review.kind === refused ? 401 : allowAll(review)))
    const manager = world.manager()
    manager.addController({ for: Note, reconcile: () => undefined })
    await expect(manager.preflight()).rejects.toMatchObject({ reason: 'Unauthorized' })
  })

  test.each(['SelfSubjectReview', 'SelfSubjectAccessReview'])('rejects when %s gets no answer', async (lost) => {
    const { world } = await reviewed((review) => {
      if (review.kind === lost) throw new TypeError('fetch failed')
      return allowAll(review)
    })
    const manager = world.manager()
    manager.addController({ for: Note, reconcile: () => undefined })
    await expect(manager.preflight()).rejects.toThrow('fetch failed')
  })

  test('a kind is missing unless group, version and kind are served, and is found once it is installed', async () => {
    const { world } = await reviewed(allowAll)
    const spec = { type: 'object' } as const
    const Late = defineKind({ group: 'late.dev', version: 'v1', kind: 'Late', spec })
    const manager = world.manager()
    const kinds = [
      Late,
      declareKind({ group: 'test.dev', version: 'v2', kind: 'Note' }),
      declareKind({ group: 'test.dev', version: 'v1', kind: 'Memo' }),
      declareKind({ group: '', version: 'v1', kind: 'Note' }),
      Note,
    ]
    for (const [index, kind] of kinds.entries())
      manager.addController({ for: kind, name: `c${index}`, reconcile: () => undefined })
    const missing = async (): Promise<string[]> =>
      (await manager.preflight()).missing.map(({ message }) => message.split(';')[0] ?? '')
    const others = [
      'kind missing: the server has no Note (test.dev/v2)',
      'kind missing: the server has no Memo (test.dev/v1)',
      'kind missing: the server has no Note (v1)',
    ]
    expect(await missing()).toEqual(['kind missing: the server has no Late (late.dev/v1)', ...others])
    await Promise.all([installKinds(world.server.transport, [Late], { clock: world.clock }), world.clock.advance(1000)])
    expect(await missing()).toEqual(others)
  })

  test('F7: the kinds that verbs need are missing as well, each once', async () => {
    const { world } = await reviewed(allowAll)
    const driver: Driver = {
      name: 'drives',
      capabilities: {},
      desired: () => ({}),
      observe: () => Promise.resolve(undefined),
      create: () => Promise.resolve({ id: '1' }),
      update: () => Promise.resolve(),
      remove: () => Promise.resolve(),
      async *list() {
        yield await Promise.resolve([])
      },
    }
    const operations = ['backup', 'restore'].map((name) => action(name, { form: 'operation' }))
    const manager = world.manager()
    manager.addController({ for: Note, verbs: [external(driver, { instance: 'test' }), ...operations] })
    const missing = async (): Promise<string[]> =>
      (await manager.preflight()).missing.map(({ what, group, resource }) => `${what} ${resource}.${group}`)
    const kinds = ['kind externalrefs.evenkeel.dev', 'kind externalsweeps.evenkeel.dev', 'kind operations.evenkeel.dev']
    expect((await missing()).sort()).toEqual(kinds)
  })
})
