import { afterEach, describe, expect, test } from 'vitest'
import type { WireResponse } from '#wire'
import type { AdmissionHook } from '../admission/admission-hooks.ts'
import { TestServer } from '../client.fixture.ts'
import type { User } from '../request-context.ts'
import type { AuditOptions } from './audit-log.ts'
import type { AuditRule } from './audit-policy.ts'

interface LoggedEvent {
  readonly [key: string]: unknown
  readonly stage: string
  readonly auditID: string
}

const notes: AdmissionHook = {
  name: 'notes',
  rules: [{ resources: ['configmaps'] }],
  validate(_object, { annotate }) {
    annotate('team', 'web')
    return undefined
  },
}

const running: TestServer[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map(({ server }) => server.stop()))
})

interface Logged {
  readonly tested: TestServer
  readonly events: LoggedEvent[]
  as(user: User, method: string, target: string): Promise<WireResponse>
}

async function start(rules: readonly AuditRule[], options: Partial<AuditOptions> = {}): Promise<Logged> {
  const events: LoggedEvent[] = []
  const tested = await TestServer.start({
    audit: {
      policy: { rules },
      write: (line) => {
        events.push(JSON.parse(line) as LoggedEvent)
      },
      ...options,
    },
    admission: { hooks: [notes] },
  })
  running.push(tested)
  events.length = 0
  return {
    tested,
    events,
    as: (user, method, target) =>
      tested.server.as(user)({ method, target, headers: {}, signal: new AbortController().signal }),
  }
}

const maps = '/api/v1/namespaces/default/configmaps'
const map = { metadata: { name: 'a' }, data: { k: 'v' } }

describe('audit events', () => {
  test('say who, what, when and how it ended, under the number that the client is told', async () => {
    const { tested, events } = await start([{ level: 'Metadata' }])
    const { headers } = await tested.ask('POST', maps, {
      body: map,
      headers: { 'user-agent': 'kubectl/v1', 'audit-id': 'my-number' },
    })
    expect(headers['audit-id']).toBe('my-number')
    expect(events.map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseComplete'])
    expect(events[1]).toEqual({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID: 'my-number',
      stage: 'ResponseComplete',
      requestURI: maps,
      verb: 'create',
      user: { username: 'evenkeel-admin', groups: ['system:masters', 'system:authenticated'] },
      userAgent: 'kubectl/v1',
      objectRef: {
        resource: 'configmaps',
        namespace: 'default',
        name: 'a',
        uid: expect.any(String) as unknown,
        apiVersion: 'v1',
        resourceVersion: expect.stringMatching(/^\d+$/) as unknown,
      },
      responseStatus: { metadata: {}, code: 201 },
      requestReceivedTimestamp: '2026-01-01T00:00:00.000000Z',
      stageTimestamp: '2026-01-01T00:00:00.000000Z',
      annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '', team: 'web' },
    })
    const { headers: others } = await tested.ask('GET', maps, { headers: { 'audit-id': 'bad number\n' } })
    expect(others['audit-id']).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('show bodies at their levels, patches as they were sent, without managers if so wanted', async () => {
    const { tested, events } = await start([
      { level: 'Request', verbs: ['patch'], omitStages: ['RequestReceived'] },
      { level: 'RequestResponse', omitManagedFields: true, omitStages: ['RequestReceived'] },
    ])
    await tested.ask('POST', maps, { body: map })
    await tested.ask('PATCH', `${maps}/a`, {
      type: 'application/json-patch+json',
      body: [{ op: 'add', path: '/data/x', value: 'y' }],
    })
    await tested.ask('PATCH', `${maps}/b?fieldManager=me`, {
      type: 'application/apply-patch+yaml',
      body: 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: b }\n',
    })
    await tested.ask('GET', maps)
    const [created, patched, applied, listed] = events
    expect(created).toMatchObject({ requestObject: map, responseObject: { kind: 'ConfigMap', data: { k: 'v' } } })
    expect(JSON.stringify(created)).not.toContain('managedFields')
    expect(patched).toMatchObject({ requestObject: [{ op: 'add', path: '/data/x', value: 'y' }] })
    expect(patched).not.toHaveProperty('responseObject')
    expect(applied).toMatchObject({
      requestObject: { kind: 'ConfigMap', metadata: { name: 'b' } },
      responseStatus: { code: 201 },
    })
    expect(listed).toMatchObject({
      responseObject: { kind: 'ConfigMapList', items: [{ data: { k: 'v', x: 'y' } }, {}] },
    })
    expect(JSON.stringify(listed)).not.toContain('managedFields')
  })

  test('say why something was refused, and by whom it was asked for whom', async () => {
    const { as, events, tested } = await start([{ level: 'Metadata', omitStages: ['RequestReceived'] }])
    await as({ name: 'jane', groups: [] }, 'DELETE', `${maps}/a`)
    await tested.ask('GET', `${maps}/none`, {
      headers: { 'impersonate-user': 'ann', 'impersonate-group': 'system:masters' },
    })
    expect(events[0]).toMatchObject({
      user: { username: 'jane' },
      responseStatus: {
        status: 'Failure',
        reason: 'Forbidden',
        code: 403,
        message: expect.stringContaining('cannot delete resource') as unknown,
      },
      annotations: { 'authorization.k8s.io/decision': 'forbid' },
    })
    expect(events[1]).toMatchObject({
      user: { username: 'evenkeel-admin' },
      impersonatedUser: { username: 'ann' },
      responseStatus: { code: 404, reason: 'NotFound' },
      objectRef: { name: 'none' },
    })
  })

  test('tell of a watch when it begins and when it ends', async () => {
    const { tested, events } = await start([{ level: 'Metadata' }])
    const watch = await tested.watch(`${maps}?watch=true`)
    expect(events.map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseStarted'])
    await tested.ask('POST', maps, { body: map })
    await watch.next()
    await watch.close()
    expect(events.map(({ stage, verb }) => `${String(verb)} ${stage}`)).toEqual([
      'watch RequestReceived',
      'watch ResponseStarted',
      'create RequestReceived',
      'create ResponseComplete',
      'watch ResponseComplete',
    ])
  })

  test('tell of credentials that nobody knows and of paths that cannot be read', async () => {
    const { tested, events } = await start([{ level: 'Metadata' }])
    await tested.ask('GET', '/api/v1/namespaces/%zz')
    expect(events).toMatchObject([{ stage: 'ResponseStarted', user: {}, responseStatus: { code: 400 } }])
  })

  test('are about what the policy names and nothing else', async () => {
    const { tested, events } = await start([
      { level: 'None', verbs: ['get'] },
      { level: 'Metadata', resources: [{ resources: ['configmaps'] }] },
    ])
    await tested.ask('GET', maps)
    await tested.ask('GET', `${maps}/none`)
    await tested.ask('GET', '/api/v1/namespaces/default/pods')
    await tested.ask('GET', '/version')
    expect(events.map(({ verb }) => verb)).toEqual(['list', 'list'])
  })

  test('a function that throws costs a line, not a request', async () => {
    const { tested } = await start([{ level: 'Metadata' }], {
      write: () => {
        throw new Error('full')
      },
    })
    expect((await tested.ask('POST', maps, { body: map })).status).toBe(201)
    expect((await tested.ask('GET', '/metrics')).text).toMatch(/evenkeel_audit_dropped_total [1-9]/)
  })
})

test('AuditOptions need one place to write to', async () => {
  await expect(TestServer.start({ audit: {} })).rejects.toThrow(RangeError)
})
