/**
 * Threats of the security table that need the whole server, by the number of their row. Others are beside the code
 * that defends: `grep -rn "row 9"`.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from './client.fixture.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
let tested: TestServer

beforeAll(async () => { tested = await TestServer.start() })
afterAll(async () => { await tested.server.stop() })

function definition(plural: string, spec: object): object {
  const kind = plural.slice(0, 1).toUpperCase() + plural.slice(1, -1)
  return {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${plural}.evil.dev` },
    spec: { group: 'evil.dev', scope: 'Namespaced', names: { plural, kind }, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }] },
  }
}

describe('row 10: nothing is proxied', () => {
  test.each(['services/x/proxy', 'services/x/proxy/etc/passwd', 'pods/x/proxy', 'pods/x/exec', 'pods/x/attach', 'pods/x/portforward'])('an upgrade of %s is refused', async (path) => {
    const { status } = await tested.ask('GET', `/api/v1/namespaces/default/${path}`, { headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1' } })
    expect(status).toBeGreaterThanOrEqual(400)
  })
})

describe('row 14: a patch cannot blow up', () => {
  test('copying a part into itself over and over ends with a refusal, and changes nothing', async () => {
    expect((await tested.ask('POST', maps, { body: { metadata: { name: 'seed', annotations: { a: 'x'.repeat(1000) } }, data: { a: 'y'.repeat(100_000) } } })).status).toBe(201)
    const doubling = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '/data', path: `/data/copy${index}` }))
    expect((await tested.ask('PATCH', `${maps}/seed`, { type: 'application/json-patch+json', body: doubling })).status).toBeGreaterThanOrEqual(400)
    expect((await tested.ask('GET', `${maps}/seed`)).json['data']).toEqual({ a: 'y'.repeat(100_000) })
  })

  test('10,001 operations are refused with 413', async () => {
    const operations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' }))
    expect((await tested.ask('PATCH', `${maps}/seed`, { type: 'application/json-patch+json', body: operations })).status).toBe(413)
  })
})

describe('row 16: patterns are matched in linear time', () => {
  // A backtracking engine needs longer than the age of the universe for these.
  test.each(['^(a+)+$', '^(a|aa)+$', '^(.*a){30}$', '^([a-z]+)*\\d$'])('%s', async (pattern) => {
    const plural = `patterns${Buffer.from(pattern).toString('hex')}s`
    expect((await tested.ask('POST', definitions, { body: definition(plural, { type: 'string', pattern }) })).status).toBe(201)
    const target = `/apis/evil.dev/v1/namespaces/default/${plural}`
    const kind = plural.slice(0, 1).toUpperCase() + plural.slice(1, -1)
    const { status } = await tested.ask('POST', target, { body: { apiVersion: 'evil.dev/v1', kind, metadata: { name: 'x' }, spec: `${'a'.repeat(50_000)}!` } })
    expect(status).toBe(422)
  })
})

describe('row 17: expressions are metered', () => {
  const nested = { type: 'array', maxItems: 10_000, items: { type: 'array', maxItems: 10_000, items: { type: 'string', maxLength: 1000 } } }

  test('a rule that could cost too much is refused with its definition', async () => {
    const rule = { rule: 'self.all(a, self.all(b, a.all(c, b.all(d, c == d))))' }
    const { status, text } = await tested.ask('POST', definitions, { body: definition('costlies', { ...nested, 'x-kubernetes-validations': [rule] }) })
    expect(status).toBe(422)
    expect(text).toContain('estimated rule cost exceeds budget')
  })
})

describe('row 24: paths of printer columns are read, never run', () => {
  test.each(['.spec[?(@.constructor.constructor("return process")())]', '.spec["__proto__"].polluted', '.spec.constructor.constructor', '.spec[(@.length-1)]'])('%s', async (jsonPath) => {
    const plural = `columns${Buffer.from(jsonPath).toString('hex').slice(0, 40)}s`
    const body = definition(plural, { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }) as { spec: { versions: [Record<string, unknown>] } }
    body.spec.versions[0]['additionalPrinterColumns'] = [{ name: 'evil', type: 'string', jsonPath }]
    const made = await tested.ask('POST', definitions, { body })
    if (made.status !== 201) return expect(made.status).toBe(422)
    const kind = plural.slice(0, 1).toUpperCase() + plural.slice(1, -1)
    await tested.ask('POST', `/apis/evil.dev/v1/namespaces/default/${plural}`, { body: { apiVersion: 'evil.dev/v1', kind, metadata: { name: 'x' }, spec: { a: 1 } } })
    const table = await tested.ask('GET', `/apis/evil.dev/v1/namespaces/default/${plural}`, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } })
    expect(table.status).toBe(200)
    expect(table.text).toMatch(/"cells":\["x"(?:,(?:null|""|"\[\]"|"<?\w+>?"))*\]/)
    return expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})
