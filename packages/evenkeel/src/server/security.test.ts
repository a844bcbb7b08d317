/**
 * Threats of the security table that need the whole server, by the number of their row. Others are beside the code
 * that defends: `grep -rn "row 9"`.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from './client.fixture.ts'
import { RawClient } from './listen/raw-client.fixture.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
let tested: TestServer

beforeAll(async () => {
  tested = await TestServer.start()
})
afterAll(async () => {
  await tested.server.stop()
})

function definition(plural: string, spec: object): object {
  const kind = plural.slice(0, 1).toUpperCase() + plural.slice(1, -1)
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.evil.dev` },
    spec: {
      group: 'evil.dev',
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  }
}

test('a POST to the path of a custom object creates nothing: authorization saw another name', async () => {
  const path = '/apis/evil.dev/v1/namespaces/default/namesakes'
  await tested.ask('POST', definitions, { body: definition('namesakes', { type: 'object' }) })
  const body = { apiVersion: 'evil.dev/v1', kind: 'Namesake', metadata: { name: 'other' } }
  const { status, json } = await tested.ask('POST', `${path}/allowed`, { body })
  expect([status, json['message']]).toEqual([405, 'create is not supported on resources of kind "namesakes.evil.dev"'])
  expect((await tested.ask('GET', `${path}/other`)).status).toBe(404)
})

describe('row 10: pods, nodes and services are not proxied', () => {
  const upgrade = { connection: 'Upgrade', upgrade: 'SPDY/3.1' }
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'x' }] }
  const pod = { body: { metadata: { name: 'x' }, spec } }

  beforeAll(async () => {
    await tested.ask('POST', '/api/v1/namespaces/default/pods', pod)
  })

  test.each([
    'services/x/proxy',
    'services/x/proxy/etc/passwd',
    'pods/x/proxy',
    'pods/x/exec',
    'pods/x/attach',
    'pods/x/portforward',
  ])('an upgrade of %s is refused', async (path) => {
    const { status, headers } = await tested.ask('GET', `/api/v1/namespaces/default/${path}`, { headers: upgrade })
    expect([status, headers['upgrade']]).toEqual([405, undefined])
  })

  test('who asked for one on a socket is nobody in the next request, whatever was said before', async () => {
    const listening = await TestServer.start({ listen: { tls: false } })
    await listening.ask('POST', '/api/v1/namespaces/default/pods', pod)
    const { url = '', token = '', port } = listening.server.address ?? {}
    const client = new RawClient(url)
    client.send(
      `GET /api/v1/namespaces/default/pods/x/exec?command=sh HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`,
    )
    client.send(
      `GET /api/v1/namespaces/kube-system/secrets HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`,
    )
    expect([...(await client.all()).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['405', '401'])
    await listening.server.stop()
  })
})

describe('row 15: keys that objects of the language have are keys like any other', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  const labelled = Object.fromEntries(names.slice(1).map((name) => [name, 'mine']))
  const namesOf = ({ json }: Awaited<ReturnType<TestServer['ask']>>): string[] =>
    (json['items'] as unknown as { metadata: { name: string } }[])
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.startsWith('odd'))
      .sort()

  beforeAll(async () => {
    await tested.ask('POST', maps, { body: { metadata: { name: 'odd-labelled', labels: labelled } } })
    await tested.ask('POST', maps, { body: { metadata: { name: 'odd-plain' } } })
  })

  test.each(Object.keys(labelled))('a selector for %s finds who has it, and nobody else', async (name) => {
    expect(namesOf(await tested.ask('GET', `${maps}?labelSelector=${name}`))).toEqual(['odd-labelled'])
    expect(namesOf(await tested.ask('GET', `${maps}?labelSelector=${encodeURIComponent(`!${name}`)}`))).toEqual([
      'odd-plain',
    ])
  })

  const data = Object.fromEntries(names.slice(1).map((name) => [name, 'old']))
  test.each([
    ['application/merge-patch+json', '{"data":{"__proto__":"new","polluted":"x"}}'],
    ['application/strategic-merge-patch+json', '{"data":{"__proto__":"new","polluted":"x"}}'],
    [
      'application/json-patch+json',
      '[{"op":"add","path":"/data/__proto__","value":"new"},{"op":"add","path":"/data/polluted","value":"x"}]',
    ],
    [
      'application/apply-patch+yaml',
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"odd-patched"},"data":{"__proto__":"new","polluted":"x"}}',
    ],
  ])('%s adds __proto__ as data, and changes nothing else', async (type, patch) => {
    await tested.ask('DELETE', `${maps}/odd-patched`)
    await tested.ask('POST', maps, { body: { metadata: { name: 'odd-patched' }, data } })
    const { status, text } = await tested.ask(
      'PATCH',
      `${maps}/odd-patched?fieldManager=test&force=${type.includes('apply')}`.replace('&force=false', ''),
      { type, body: patch },
    )
    expect(status).toBe(200)
    expect(text).toContain('"__proto__":"new"')
    for (const name of names.slice(1)) expect(text).toContain(`"${name}":"old"`)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test.each([
    ['application/merge-patch+json', '{"__proto__":{"polluted":"x"},"constructor":{"prototype":{"polluted":"x"}}}'],
    ['application/json-patch+json', '[{"op":"add","path":"/__proto__/polluted","value":"x"}]'],
    ['application/json-patch+json', '[{"op":"add","path":"/data/constructor/prototype/polluted","value":"x"}]'],
    ['application/json-patch+json', '[{"op":"copy","from":"/constructor","path":"/data/polluted"}]'],
  ])('%s cannot reach what all objects share: %s', async (type, patch) => {
    await tested.ask('PATCH', `${maps}/odd-labelled`, { type, body: patch })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect((await tested.ask('GET', `${maps}/odd-labelled`)).text).not.toContain('polluted')
  })

  test('YAML says the same', async () => {
    const { status, text } = await tested.ask('POST', maps, {
      type: 'application/yaml',
      body: 'metadata: {name: odd-yaml}\ndata: {__proto__: one, constructor: two}\n',
    })
    expect([status, ({} as Record<string, unknown>)['polluted']]).toEqual([201, undefined])
    expect(text).toContain('"data":{"__proto__":"one","constructor":"two"}')
  })
})

describe('row 14: a patch cannot blow up', () => {
  test('copying a part into itself over and over ends with a refusal, and changes nothing', async () => {
    expect(
      (
        await tested.ask('POST', maps, {
          body: { metadata: { name: 'seed', annotations: { a: 'x'.repeat(1000) } }, data: { a: 'y'.repeat(100_000) } },
        })
      ).status,
    ).toBe(201)
    const doubling = Array.from({ length: 40 }, (_, index) => ({
      op: 'copy',
      from: '/data',
      path: `/data/copy${index}`,
    }))
    expect(
      (await tested.ask('PATCH', `${maps}/seed`, { type: 'application/json-patch+json', body: doubling })).status,
    ).toBeGreaterThanOrEqual(400)
    expect((await tested.ask('GET', `${maps}/seed`)).json['data']).toEqual({ a: 'y'.repeat(100_000) })
  })

  test('10,001 operations are refused with 413', async () => {
    const operations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' }))
    expect(
      (await tested.ask('PATCH', `${maps}/seed`, { type: 'application/json-patch+json', body: operations })).status,
    ).toBe(413)
  })
})

/** Makes a kind with this spec and says what becomes of an object of it. */
async function judged(plural: string, spec: object, value: unknown): ReturnType<TestServer['ask']> {
  const made = await tested.ask('POST', definitions, { body: definition(plural, spec) })
  if (made.status !== 201) return made
  const kind = plural.slice(0, 1).toUpperCase() + plural.slice(1, -1)
  return tested.ask('POST', `/apis/evil.dev/v1/namespaces/default/${plural}`, {
    body: { apiVersion: 'evil.dev/v1', kind, metadata: { name: 'x' }, spec: value },
  })
}

describe('row 16: patterns are matched in linear time', () => {
  const nameOf = (pattern: string): string => `patterns${Buffer.from(pattern).toString('hex')}s`

  test.each(['^(a)\\1$', '^(?=a)a$', '(?<!a)b'])(
    '%s, which takes an engine that goes back, is refused with its definition',
    async (pattern) => {
      const { status, text } = await judged(nameOf(pattern), { type: 'string', pattern }, 'aa')
      expect(status).toBe(422)
      expect(text).toContain('must be a valid regular expression')
    },
  )

  // An engine that goes back needs longer than the age of the universe for these. It reads another dialect, so it fails before it gets there.
  test.each(['^(a+)+$', '^(a|aa)+$', '^(.*a){30}$', '^([a-z]+)*\\d$'])('%s', async (pattern) => {
    expect((await judged(nameOf(`${pattern}1`), { type: 'string', pattern: '^\\Qa+b\\E$' }, 'a+b')).status).toBe(201)
    expect((await judged(nameOf(pattern), { type: 'string', pattern }, `${'a'.repeat(50_000)}!`)).status).toBe(422)
  })
})

describe('row 16: patterns in expressions are matched in linear time', () => {
  const ruled = (rule: string): object => ({
    type: 'string',
    maxLength: 10_000,
    'x-kubernetes-validations': [{ rule }],
  })

  test('what takes an engine that goes back is refused, with its definition', async () => {
    expect((await judged('goingbacks', ruled('self.matches(r"^(a)\\1$")'), 'aa')).status).toBe(422)
  })

  test('^(a+)+$', async () => {
    expect((await judged('dialects', ruled('self.matches(r"^\\Qa+b\\E$")'), 'a+b')).status).toBe(201)
    const { status, text } = await judged('evils', ruled('self.matches(r"^(a+)+$")'), `${'a'.repeat(9000)}!`)
    expect(status).toBe(422)
    expect(text).toContain('failed rule')
  })
})

describe('row 17: expressions are metered', () => {
  const nested = {
    type: 'array',
    maxItems: 10_000,
    items: { type: 'array', maxItems: 10_000, items: { type: 'string', maxLength: 1000 } },
  }
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index)
  const pairs = { rule: 'self.all(a, self.all(b, a + b >= 0))' }

  test('a rule that could cost too much is refused with its definition', async () => {
    const rule = { rule: 'self.all(a, self.all(b, a.all(c, b.all(d, c == d))))' }
    const { status, text } = await tested.ask('POST', definitions, {
      body: definition('costlies', { ...nested, 'x-kubernetes-validations': [rule] }),
    })
    expect(status).toBe(422)
    expect(text).toContain('estimated rule cost exceeds budget')
  })

  test('a rule that costs too much ends, and its object is refused', async () => {
    const { status, text } = await judged(
      'dearies',
      { type: 'array', maxItems: 1000, items: { type: 'integer' }, 'x-kubernetes-validations': [pairs] },
      numbers(1000),
    )
    expect(status).toBe(422)
    expect(text).toContain('call cost exceeds limit')
  })

  test('rules that cost too much together end, and their object is refused', async () => {
    const { status, text } = await judged(
      'manies',
      { type: 'array', maxItems: 300, items: { type: 'integer' }, 'x-kubernetes-validations': Array(20).fill(pairs) },
      numbers(300),
    )
    expect(status).toBe(422)
    expect(text).toContain('running out of cost budget')
  })
})

describe('row 24: paths of printer columns are read, never run', () => {
  test.each([
    '.spec[?(@.constructor.constructor("return process")())]',
    '.spec["__proto__"].polluted',
    '.spec.constructor.constructor',
    '.spec[(@.length-1)]',
  ])('%s', async (jsonPath) => {
    const plural = `columns${Buffer.from(jsonPath).toString('hex').slice(0, 40)}s`
    const body = definition(plural, { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }) as {
      spec: { versions: [Record<string, unknown>] }
    }
    body.spec.versions[0]['additionalPrinterColumns'] = [{ name: 'evil', type: 'string', jsonPath }]
    const made = await tested.ask('POST', definitions, { body })
    if (made.status !== 201) return expect(made.status).toBe(422)
    const kind = plural.slice(0, 1).toUpperCase() + plural.slice(1, -1)
    await tested.ask('POST', `/apis/evil.dev/v1/namespaces/default/${plural}`, {
      body: { apiVersion: 'evil.dev/v1', kind, metadata: { name: 'x' }, spec: { a: 1 } },
    })
    const table = await tested.ask('GET', `/apis/evil.dev/v1/namespaces/default/${plural}`, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    })
    expect(table.status).toBe(200)
    expect(table.text).toMatch(/"cells":\["x"(?:,(?:null|""|"\[\]"|"<?\w+>?"))*\]/)
    return expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('row 8: no path of a request reaches a file', () => {
  test.each([
    '/etc/passwd',
    '/../../../../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/api/v1/namespaces/default/pods/../../../../../../etc/passwd',
    '/api/v1/namespaces/default/pods/x/log?path=/etc/passwd',
    '/openapi/v3/../../package.json',
    '/static/index.html',
    '/file:///etc/passwd',
    '/@fs/etc/passwd?raw',
    '/api/v1/namespaces/%00/configmaps/%2fetc%2fpasswd',
  ])('%s', async (path) => {
    const { status, text } = await tested.ask('GET', path)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(text).not.toMatch(/root:|"name": "evenkeel/)
  })
})
