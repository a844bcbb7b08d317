/**
 * Documents within the limits of size that once took seconds, gigabytes or the whole process.
 *
 * The bounds are processor time and memory, each about three times what a document takes.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SystemClock } from '#base'
import { encodeProtobuf } from '#wire'
import { TestServer } from './client.fixture.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
  const big = 'x'.repeat(10_000)
  const items = { type: 'object', properties: { d: { type: 'string', default: big } } }
  await define('defaults', { l: { type: 'array', items } })
  await define('wrongs', { l: { type: 'array', items: { type: 'string' } } })
  await define('alternatives', {
    m: {
      type: 'object',
      additionalProperties: { type: 'string' },
      anyOf: list(256, () => ({ maxProperties: 1, properties: { a: { pattern: 'b' } } })),
    },
  })
  await define('patterns', { p: { type: 'string', pattern: '(a{1,50}){1,20}$' } })
})
afterAll(() => server.server.stop())

async function define(plural: string, properties: object): Promise<void> {
  const kind = `${plural[0]?.toUpperCase() ?? ''}${plural.slice(1)}`
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } }
  const made = await server.ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.cost.dev` },
      spec: {
        group: 'cost.dev',
        scope: 'Namespaced',
        names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    },
  })
  expect(made.status).toBe(201)
}

const maps = '/api/v1/namespaces/default/configmaps?dryRun=All'
const list = <T>(count: number, item: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => item(i))
const record = (count: number, entry: (index: number) => [string, string]): Record<string, string> =>
  Object.fromEntries(list(count, entry))
const map = (metadata: object, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'x', ...metadata },
  ...more,
})
const custom = (kind: string, spec: object): object => ({
  apiVersion: 'cost.dev/v1',
  kind,
  metadata: { name: 'x' },
  spec,
})
const owner = (index: number): object => ({ apiVersion: 'v1', kind: 'Pod', name: 'a', uid: String(index) })
const entry = (index: number): object => ({
  manager: `m${index}`,
  operation: 'Update',
  apiVersion: 'v1',
  time: '2020-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': { [`f:a${index}`]: {} } },
})

interface Costly {
  readonly path?: string
  readonly body: unknown
  readonly type?: string
  readonly status: number
  /** A part of the answer. */
  readonly says?: string
  /**
   * The most processor time: three times what it takes on a slow machine.
   *
   * @default 1
   */
  readonly seconds?: number
}

const documents: Record<string, () => Costly> = {
  'D3: 15,000 owner references': () => ({ body: map({ ownerReferences: list(15_000, owner) }), status: 201 }),
  '12,000 controllers, each error naming them all': () => ({
    body: map({ ownerReferences: list(12_000, (i) => ({ ...owner(i), controller: true })) }),
    status: 422,
    says: 'more errors]',
  }),
  '6,000 managers': () => ({ body: map({ managedFields: list(6_000, entry) }), status: 201 }),
  'D8: 70,000 bad labels': () => ({
    body: map({ labels: record(70_000, (i) => [`!${i}`, '!']) }),
    status: 422,
    says: 'more errors]',
  }),
  'D8: 9,000 bad finalizers': () => ({
    body: map({ finalizers: list(9_000, (i) => `!${i}`) }),
    status: 422,
    says: 'more errors]',
  }),
  'D6: defaults of 10 kB in 60,000 items': () => ({
    path: '/apis/cost.dev/v1/namespaces/default/defaults?dryRun=All',
    body: custom('Defaults', { l: list(60_000, () => ({})) }),
    status: 413,
    says: 'the defaults of the schema add more than 3145728 bytes to the object',
  }),
  'D7: a pattern of a thousand instructions': () => ({
    path: '/apis/cost.dev/v1/namespaces/default/patterns?dryRun=All',
    body: custom('Patterns', { p: 'a'.repeat(1_000_000) }),
    status: 413,
    says: 'the texts of the object are too long for the patterns of its schema',
  }),
  'D7: 250,000 unknown keys': () => ({
    body: map(
      {},
      record(250_000, (i) => [`u${i}`, '']),
    ),
    status: 413,
    says: 'the document has more than 100000 values',
  }),
  'D7: 1,400,000 brackets': () => ({ body: '['.repeat(1_400_000), status: 413 }),
  'D7: YAML of 400,000 colons': () => ({
    body: ': '.repeat(400_000),
    type: 'application/yaml',
    status: 413,
    says: 'the YAML text has more than 150000 tokens',
  }),
  'D7: YAML of 250,000 documents': () => ({ body: '---\n'.repeat(250_000), type: 'application/yaml', status: 413 }),
  'D7: 150,000 labels': () => ({
    body: map({ labels: record(150_000, (i) => [`l${i}`, '']) }),
    status: 413,
    says: 'the document has more than 100000 values',
  }),
  'D7: YAML of 80,000 keys': () => ({
    body: `data:\n${list(80_000, (i) => `  k${i}: v\n`).join('')}`,
    type: 'application/yaml',
    status: 413,
    says: 'the YAML text has more than 150000 tokens',
  }),
  'D7: YAML of 30,000 merge keys': () => ({
    body: `apiVersion: v1\nkind: ConfigMap\nbase: &a {x: z}\ndata:\n${list(30_000, () => '  <<: *a\n').join('')}`,
    type: 'application/yaml',
    status: 422,
    seconds: 2,
  }),
  'YAML of 35,000 keys': () => ({
    body: `metadata: {name: x}\ndata:\n${list(35_000, (i) => `  k${i}: v\n`).join('')}`,
    type: 'application/yaml',
    status: 201,
    seconds: 2,
  }),
  'D7: YAML of 300,000 comments': () => ({ body: '#\n'.repeat(300_000), type: 'application/yaml', status: 413 }),
  'YAML of 400,000 closing brackets': () => ({ body: ']'.repeat(400_000), type: 'application/yaml', status: 400 }),
  'YAML of 70,000 errors in one line': () => ({
    body: `a: [${'*,'.repeat(70_000)}${'x'.repeat(500_000)}]`,
    type: 'application/yaml',
    status: 400,
    says: 'yaml: Alias cannot be an empty string at line 1, column 5',
    seconds: 2,
  }),
  'YAML of 60,000 tags on one node': () => ({
    body: `a: ${'!!str '.repeat(60_000)}`,
    type: 'application/yaml',
    status: 400,
  }),
  'YAML of 60,000 anchors on one node': () => ({
    body: `a: ${'&a '.repeat(60_000)}`,
    type: 'application/yaml',
    status: 400,
  }),
  '70,000 rules without anything': () => ({
    path: '/apis/rbac.authorization.k8s.io/v1/clusterroles?dryRun=All',
    body: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'x' },
      rules: list(70_000, () => ({})),
    },
    status: 422,
    says: 'more errors]',
  }),
  '250,000 items of a wrong type': () => ({
    path: '/apis/cost.dev/v1/namespaces/default/wrongs?dryRun=All',
    body: custom('Wrongs', { l: list(250_000, () => 1) }),
    status: 422,
    says: 'more errors]',
  }),
  '256 alternatives of 90,000 keys': () => ({
    path: '/apis/cost.dev/v1/namespaces/default/alternatives?dryRun=All',
    body: custom('Alternatives', { m: record(70_000, (i) => [`a${i}`, '']) }),
    status: 413,
    says: 'the object is too large for the alternatives of its schema',
    seconds: 5,
  }),
  'an apply of 250,000 values': () => ({
    path: '/api/v1/namespaces/default/configmaps/x?fieldManager=m&dryRun=All',
    body: JSON.stringify(map({}, { data: record(120_000, (i) => [`a${i}`, '']) })),
    type: 'application/apply-patch+yaml',
    status: 413,
  }),
}

describe('rows 13 and 16: a document costs time in proportion to its size', () => {
  test.each(Object.entries(documents))('%s', async (_, make) => {
    const { path = maps, body, type, status, says = '', seconds = 1 } = make()
    const method = path.includes('fieldManager=') ? 'PATCH' : 'POST'
    const before = process.cpuUsage()
    const answer = await server.ask(method, path, { body, ...(type !== undefined && { type }) })
    const { user, system } = process.cpuUsage(before)
    expect({ status: answer.status, says: answer.text.includes(says) }).toEqual({ status, says: true })
    expect((user + system) / 1e6).toBeLessThan(seconds)
  })
})

test('row 13, D6: defaults that would multiply a small document take no memory', async () => {
  const body = custom('Defaults', { l: list(40_000, () => ({})) })
  const before = process.resourceUsage().maxRSS
  const path = '/apis/cost.dev/v1/namespaces/default/defaults?dryRun=All'
  expect((await server.ask('POST', path, { body })).status).toBe(413)
  // In KiB. Without a bound the object has 400 MB, and its JSON as much again.
  expect(process.resourceUsage().maxRSS - before).toBeLessThan(200_000)
})

test('long YAML over a socket is parsed, with a thread or without', async () => {
  const listening = await TestServer.start({ listen: { tls: false }, clock: new SystemClock() })
  const { url = '', token = '' } = listening.server.address ?? {}
  const lines = list(2000, (index) => `  key${index}: value ${index}\n`)
  try {
    const response = await fetch(`${url}/api/v1/namespaces/default/configmaps`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/yaml' },
      body: `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: long\ndata:\n${lines.join('')}`,
    })
    expect(response.status).toBe(201)
    const { data } = (await response.json()) as { data: Record<string, string> }
    expect(Object.keys(data)).toHaveLength(2000)
  } finally {
    await listening.server.stop({ graceMs: 0 })
  }
})

test('row 13: protobuf has the limit of values that JSON has', async () => {
  const data = record(100_001, (index) => [`k${index}`, ''])
  const body = encodeProtobuf({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'wide' }, data })
  const { status } = await server.ask('POST', maps, { body, type: 'application/vnd.kubernetes.protobuf' })
  expect(status).toBe(413)
})

test('row 13: an object has at most 10,000 finalizers', async () => {
  const send = async (count: number): Promise<number> => {
    const finalizers = list(count, (index) => `a.dev/f${index}`)
    return (await server.ask('POST', maps, { body: { metadata: { name: 'held', finalizers } } })).status
  }
  expect([await send(10_000), await send(10_001)]).toEqual([201, 413])
})

test('row 13: the patterns of a definition have a limit in all', async () => {
  const pattern = { type: 'string', pattern: '^(a{1,20}){1,20}$' }
  const properties = Object.fromEntries(list(3000, (index) => [`p${index}`, pattern]))
  const answer = await server.ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All', {
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'toos.cost.dev' },
      spec: {
        group: 'cost.dev',
        scope: 'Namespaced',
        names: { plural: 'toos', singular: 'too', kind: 'Too', listKind: 'TooList' },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } },
        ],
      },
    },
  })
  expect([answer.status, answer.text]).toEqual([413, expect.stringContaining('patterns of the definition') as string])
})
