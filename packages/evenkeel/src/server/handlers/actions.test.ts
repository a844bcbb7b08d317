import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { defineKind, crdOf, Operation, readActionRequest } from '#api'
import type { ActionDefinition, KubeObject } from '#api'
import { startServer } from '../server.ts'
import type { Server } from '../server-options.ts'

const definitions: readonly ActionDefinition[] = [
  { name: 'stop', form: 'state', patch: { spec: { running: false } }, enabledWhen: 'object.spec.running' },
  { name: 'restart', form: 'token', input: { type: 'object', properties: { gently: { type: 'boolean' } } } },
  { name: 'backup', form: 'operation', ttlSeconds: 60 },
  { name: 'usage', form: 'call' },
]

const App = {
  ...defineKind({
    group: 'demo.example.com',
    version: 'v1',
    kind: 'App',
    spec: { type: 'object', properties: { running: { type: 'boolean' } } },
    status: { type: 'object', properties: {} },
  } as const),
  actions: definitions,
}

async function request(
  transport: Server['transport'],
  line: string,
  { body, headers = {} }: { body?: unknown; headers?: Readonly<Record<string, string>> } = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const [method = '', target = ''] = line.split(' ')
  const answer = await transport({
    method,
    target,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    signal: new AbortController().signal,
    ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
  })
  return {
    status: answer.status,
    body:
      answer.body instanceof Uint8Array && answer.body.byteLength > 0
        ? (JSON.parse(Buffer.from(answer.body).toString()) as Record<string, unknown>)
        : {},
  }
}

const path = '/apis/demo.example.com/v1/namespaces/default/apps'
let server: Server

beforeEach(async () => {
  server = await startServer({ kinds: [App, Operation] })
  onTestFinished(() => server.stop({ graceMs: 0 }))
  await request(server.transport, `POST ${path}`, {
    body: { apiVersion: App.apiVersion, kind: 'App', metadata: { name: 'web' }, spec: { running: true } },
  })
})

async function post(
  action: string,
  body?: unknown,
  transport = server.transport,
): Promise<{ status: number; body: Record<string, unknown> }> {
  return request(transport, `POST ${path}/web/${action}`, { body })
}

async function web(): Promise<KubeObject & { spec: { running: boolean } }> {
  return (await request(server.transport, `GET ${path}/web`)).body as never
}

describe('POST of an action', () => {
  test('of the form state writes the spec, once', async () => {
    expect(await post('stop')).toMatchObject({
      status: 200,
      body: { kind: 'ActionResult', action: 'stop', form: 'state', changed: true },
    })
    expect((await web()).spec.running).toBe(false)
    expect(await post('stop')).toMatchObject({
      status: 409,
      body: {
        reason: 'Conflict',
        message: expect.stringContaining('stop is not available now (requires object.spec.running)') as string,
      },
    })
  })

  test('of the form token stamps another request each time, with who asked', async () => {
    const first = await post('restart', { input: { gently: true } })
    expect(first).toMatchObject({ status: 202, body: { form: 'token' } })
    const asked = readActionRequest(await web(), 'restart')
    expect(asked).toMatchObject({ token: first.body['token'], input: { gently: true } })
    expect(asked?.by).not.toBe('')
    expect((await post('restart')).body['token']).not.toBe(first.body['token'])
  })

  test('of the form operation makes an object that belongs to the target', async () => {
    const { status, body } = await post('backup')
    expect(status).toBe(202)
    const { name } = body['operation'] as { name: string }
    const made = (
      await request(server.transport, `GET /apis/evenkeel.dev/v1alpha1/namespaces/default/operations/${name}`)
    ).body as unknown as KubeObject & { spec: unknown }
    const { uid } = (await web()).metadata
    expect(made).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'App', name: 'web', uid }] },
      spec: { action: 'backup', ttlSeconds: 60, target: { kind: 'App', name: 'web', uid } },
    })
    const changed = await request(
      server.transport,
      `PATCH /apis/evenkeel.dev/v1alpha1/namespaces/default/operations/${name}`,
      { body: { spec: { action: 'other' } }, headers: { 'content-type': 'application/merge-patch+json' } },
    )
    expect(changed).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining('an operation cannot be changed, only cancelled') as string },
    })
  })

  test('of the form call is answered by whoever is there, else by an operation that waits for its controller', async () => {
    expect(await post('usage')).toMatchObject({
      status: 202,
      body: { form: 'call', operation: { name: expect.stringMatching(/^web-usage-/) as string } },
    })
    const stop = server.onAction(App, 'usage', ({ object }) => ({ of: object.metadata.name ?? '', bytes: 12 }))
    expect(await post('usage')).toMatchObject({ status: 200, body: { output: { of: 'web', bytes: 12 } } })
    stop()
    expect((await post('usage')).status).toBe(202)
  })

  test('A35: is a right of its own, and never a GET', async () => {
    const reader = server.as({ name: 'eve', groups: ['system:authenticated'] })
    expect(await post('restart', undefined, reader)).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('cannot create resource "apps/restart"') as string },
    })
    expect(await request(server.transport, `GET ${path}/web/restart`)).toMatchObject({ status: 405 })
  })

  test('refuses what its schema does not allow, and what it does not take', async () => {
    expect(await post('restart', { input: { gently: 'very' } })).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining('input.gently') as string },
    })
    expect(await post('stop', { input: {} })).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining('the action stop takes nothing') as string },
    })
  })

  test('refuses an object that is being deleted, and one that is not there', async () => {
    await request(server.transport, `PATCH ${path}/web`, {
      body: { metadata: { finalizers: ['demo.example.com/x'] } },
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    await request(server.transport, `DELETE ${path}/web`)
    expect(await post('restart')).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('it is being deleted') as string },
    })
    expect(await request(server.transport, `POST ${path}/other/restart`)).toMatchObject({ status: 404 })
  })

  test('is not at the paths below its own', async () => {
    const before = (await web()).metadata.resourceVersion
    expect(await request(server.transport, `POST ${path}/web/restart/more`, { body: {} })).toMatchObject({
      status: 404,
    })
    expect((await web()).metadata.resourceVersion).toBe(before)
  })

  test('is in discovery, and goes with the annotation', async () => {
    const names = async (): Promise<string[]> =>
      (
        (await request(server.transport, 'GET /apis/demo.example.com/v1')).body as unknown as {
          resources: { name: string }[]
        }
      ).resources.map(({ name }) => name)
    expect(await names()).toEqual(
      expect.arrayContaining(['apps', 'apps/status', 'apps/stop', 'apps/restart', 'apps/backup', 'apps/usage']),
    )
    await request(
      server.transport,
      'PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/apps.demo.example.com',
      {
        body: { metadata: { annotations: { 'evenkeel.dev/actions': null } } },
        headers: { 'content-type': 'application/merge-patch+json' },
      },
    )
    expect(await names()).toEqual(['apps', 'apps/status'])
    expect((await post('restart')).status).toBe(404)
  })

  test('crdOf writes the action definitions and rejects invalid ones', () => {
    expect(crdOf(App).metadata.annotations?.['evenkeel.dev/actions']).toContain('"restart"')
    expect(() => crdOf({ ...App, actions: [{ name: 'status', form: 'token' }] })).toThrow(
      'that is a subresource of its own',
    )
    expect(() => crdOf({ ...App, actions: [{ name: 'start', form: 'state' }] })).toThrow('give patch')
  })
})
