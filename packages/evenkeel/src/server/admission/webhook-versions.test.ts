import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Kind, KubeObject } from '#api'
import { TestServer } from '../client.fixture.ts'
import { convertHost, definition, definitions, host, pathOf } from '../crd/conversion.fixture.ts'
import { configuration, configurationsPath, patchOf, webhookFor, WebhookServer } from './webhook-server.fixture.ts'

const rulesFor = (version: string): object[] => [
  { operations: ['*'], apiGroups: ['conv.example.com'], apiVersions: [version], resources: ['hosts'] },
]
const shown: string[] = []
let hooks: WebhookServer
let tested: TestServer

beforeAll(async () => {
  hooks = await WebhookServer.start()
})
afterAll(() => hooks.stop())
beforeEach(async () => {
  shown.length = 0
  const kind = { group: 'conv.example.com', version: 'v2', plural: 'hosts', kind: 'Host' } as unknown as Kind
  tested = await TestServer.start({
    conversions: { 'hosts.conv.example.com': convertHost },
    admission: {
      hooks: [
        {
          name: 'spy',
          kind,
          mutate: (object: KubeObject & { spec?: { address?: string } }) => {
            shown.push(`${object.apiVersion} ${object.spec?.address ?? ''}`)
            return undefined
          },
        },
      ],
    },
  })
  expect((await tested.ask('POST', definitions, { body: definition() })).status).toBe(201)
})
afterEach(async () => {
  await tested.server.stop()
  hooks.reset()
})

test('168: webhooks and hooks about another version of a custom kind are shown what its converter makes, and what they change is converted back', async () => {
  await tested.ask('POST', configurationsPath('Mutating'), {
    body: configuration('Mutating', 'a', [
      webhookFor(hooks, 'second', { rules: rulesFor('v2') }),
      webhookFor(hooks, 'first', { rules: rulesFor('v1') }),
    ]),
  })
  await tested.ask('POST', configurationsPath('Validating'), {
    body: configuration('Validating', 'a', [webhookFor(hooks, 'judge', { rules: rulesFor('v2') })]),
  })
  hooks.answers.set('second', () => patchOf({ op: 'replace', path: '/spec/address', value: 'there:81' }))
  hooks.answers.set('first', () => patchOf({ op: 'add', path: '/spec/note', value: 'seen' }))
  const { status, json } = await tested.ask('POST', pathOf('v1'), { body: host('v1/a', { host: 'here', port: 8080 }) })
  expect([status, json['apiVersion'], json['spec']]).toEqual([
    201,
    'conv.example.com/v1',
    { host: 'there', port: 81, note: 'seen' },
  ])
  expect(shown[0]).toBe('conv.example.com/v2 here:8080')
  expect(
    hooks.asked.map(({ path, request: { object, requestKind } }) => [
      path,
      requestKind?.['version'],
      object?.['apiVersion'],
      object?.['spec']?.['address'] ?? object?.['spec']?.['host'],
    ]),
  ).toEqual([
    ['second', 'v1', 'conv.example.com/v2', 'here:8080'],
    ['first', 'v1', 'conv.example.com/v1', 'there'],
    ['judge', 'v1', 'conv.example.com/v2', 'there:81'],
  ])
})

test('168: what is replaced is shown in the same version, and its scale as it is', async () => {
  await tested.ask('POST', pathOf('v1'), { body: host('v1/a', { host: 'here', port: 1, size: 2 }) })
  await tested.ask('POST', configurationsPath('Validating'), {
    body: configuration('Validating', 'a', [
      webhookFor(hooks, 'judge', {
        rules: [{ operations: ['*'], apiGroups: ['conv.example.com'], apiVersions: ['v2'], resources: ['hosts/*'] }],
      }),
    ]),
  })
  await tested.ask('PATCH', pathOf('v1', 'a'), { body: { spec: { port: 2 } }, type: 'application/merge-patch+json' })
  await tested.ask('PATCH', pathOf('v1', 'a/scale'), {
    body: { spec: { replicas: 3 } },
    type: 'application/merge-patch+json',
  })
  expect(
    hooks.asked.map(({ request: { object, oldObject } }) => [
      oldObject?.['spec']?.['address'] ?? oldObject?.['spec']?.['replicas'],
      object?.['spec']?.['address'] ?? object?.['spec']?.['replicas'],
    ]),
  ).toEqual([
    ['here:1', 'here:2'],
    [2, 3],
  ])
})
