/** The engines for patterns and rules are loaded when a server first needs them: each test has modules without them. */
import { beforeEach, expect, test, vi } from 'vitest'
import { openMemoryStore } from '#store'

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const widgets = '/apis/demo.example.com/v1/namespaces/default/widgets'
const definition = (spec: object): object => ({
  metadata: { name: 'widgets.demo.example.com' },
  spec: {
    group: 'demo.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ],
  },
})

beforeEach(() => {
  vi.resetModules()
})

test('the first definition of a server is refused when its pattern is none', async () => {
  const { TestServer } = await import('../client.fixture.ts')
  const tested = await TestServer.start()
  const body = definition({ type: 'object', properties: { color: { type: 'string', pattern: '(' } } })
  expect(await tested.ask('POST', crds, { body })).toMatchObject({ status: 422, json: { reason: 'Invalid' } })
  await tested.server.stop()
})

test('the rules of a definition hold after a restart', async () => {
  const store = openMemoryStore()
  const first = await (await import('../client.fixture.ts')).TestServer.start({ store })
  const body = definition({
    type: 'object',
    properties: { size: { type: 'integer' } },
    'x-kubernetes-validations': [{ rule: 'self.size > 1', message: 'too small' }],
  })
  expect((await first.ask('POST', crds, { body })).status).toBe(201)
  await first.server.stop()
  vi.resetModules()
  const second = await (await import('../client.fixture.ts')).TestServer.start({ store })
  const create = (size: number) =>
    second.ask('POST', widgets, {
      body: { apiVersion: 'demo.example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { size } },
    })
  expect(await create(1)).toMatchObject({ status: 422, text: expect.stringContaining('too small') as string })
  expect((await create(2)).status).toBe(201)
  await second.server.stop()
  await store.close()
})
