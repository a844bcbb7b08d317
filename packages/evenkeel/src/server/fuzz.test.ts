import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from './client.fixture.ts'

let tested: TestServer

beforeAll(async () => {
  tested = await TestServer.start()
  await tested.ask('POST', maps, { body: { metadata: { name: 'a', labels: { x: '1' } }, data: { k: 'v' } } })
})
afterAll(async () => {
  await tested.server.stop()
})

const maps = '/api/v1/namespaces/default/configmaps'
const runs = Number(process.env['FUZZ_RUNS'] ?? 1000)

/** Every answer is a well-formed one, and never an internal error: nothing a client sends is our fault. */
async function expectSane(method: string, target: string, asked: Parameters<TestServer['ask']>[2] = {}): Promise<void> {
  const over = new AbortController()
  const { status, headers, body } = await tested.send(method, target, { ...asked, signal: over.signal })
  over.abort()
  expect(status, `${method} ${target}`).toBeLessThan(500)
  expect(status).toBeGreaterThanOrEqual(200)
  if (!(body instanceof Uint8Array) || status < 400 || headers['content-type'] !== 'application/json') return
  const answer = JSON.parse(Buffer.from(body).toString()) as {
    kind: string
    code: number
    message: string
    status: string
  }
  expect(answer).toMatchObject({ kind: 'Status', status: 'Failure', code: status })
  expect(typeof answer.message).toBe('string')
}

const writes = fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE')
const methods = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND')
const segment = fc.oneof(
  fc.constantFrom(
    'api',
    'apis',
    'v1',
    'apps',
    'namespaces',
    'default',
    'configmaps',
    'pods',
    'deployments',
    'a',
    'status',
    'scale',
    'watch',
    'finalize',
    'openapi',
    'v3',
    'healthz',
    '',
    '.',
    '..',
    '%2e%2e',
    '%',
    '%zz',
    '%00',
    '__proto__',
    'constructor',
    'a%2Fb',
  ),
  fc.string({ maxLength: 8 }).map(encodeURIComponent),
  fc.string({ maxLength: 8, unit: 'binary' }).map((text) => text.replaceAll(/[?#\s]/g, '')),
)
const query = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        'limit',
        'continue',
        'resourceVersion',
        'resourceVersionMatch',
        'labelSelector',
        'fieldSelector',
        'dryRun',
        'fieldValidation',
        'timeoutSeconds',
        'timeout',
        'pretty',
        'sendInitialEvents',
        'allowWatchBookmarks',
        'gracePeriodSeconds',
        'propagationPolicy',
        '__proto__',
      ),
      fc.oneof(
        fc.constantFrom(
          '0',
          '1',
          '-1',
          'true',
          'All',
          'Strict',
          'x',
          '',
          'a=b',
          'a in (b',
          'metadata.name=a',
          '9'.repeat(40),
          'e30',
          'Exact',
          'NotOlderThan',
        ),
        fc.string({ maxLength: 12 }),
      ),
    ),
    { maxLength: 4 },
  )
  .map((pairs) => new URLSearchParams(pairs).toString())
const headers = fc.record(
  {
    accept: fc.oneof(
      fc.constantFrom(
        'application/json',
        'application/yaml',
        '*/*',
        'application/json;as=Table;g=meta.k8s.io;v=v1',
        'application/vnd.kubernetes.protobuf',
      ),
      fc.string({ maxLength: 30 }),
    ),
    'accept-encoding': fc.constantFrom('gzip', 'gzip;q=0', '*'),
    'if-none-match': fc.string({ maxLength: 10 }),
  },
  { requiredKeys: [] },
)

describe('whatever is sent', () => {
  test('any path, method, query and header gets an answer', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(methods, fc.array(segment, { maxLength: 9 }), query, headers),
        async ([method, segments, text, given]) => {
          // A watch has no end; the others are what is looked at here.
          await expectSane(method, `/${segments.join('/')}${text === '' ? '' : `?${text}`}`, { headers: given })
        },
      ),
      { numRuns: runs },
    )
  })

  const key = fc.oneof(
    fc.constantFrom(
      'kind',
      'apiVersion',
      'metadata',
      'name',
      'namespace',
      'labels',
      'data',
      'spec',
      'status',
      'finalizers',
      'ownerReferences',
      'containers',
      'template',
      'selector',
      '__proto__',
      'constructor',
      'toString',
    ),
    fc.string({ maxLength: 4 }),
  )
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, depthSize: 'small' },
      fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e300, '', 'a', 'ConfigMap', 'v1', '2020-01-01T00:00:00Z'),
      fc.string({ maxLength: 6 }),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    ),
  }))
  const targets = fc.constantFrom(
    maps,
    `${maps}/a`,
    '/api/v1/namespaces',
    '/api/v1/namespaces/default/pods',
    '/api/v1/namespaces/default/services',
    '/api/v1/namespaces/default/secrets',
    '/api/v1/namespaces/default/events',
    '/apis/events.k8s.io/v1/namespaces/default/events',
    '/apis/apps/v1/namespaces/default/deployments',
    '/apis/apps/v1/namespaces/default/statefulsets',
    '/apis/batch/v1/namespaces/default/jobs',
    '/apis/batch/v1/namespaces/default/cronjobs',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    '/apis/networking.k8s.io/v1/namespaces/default/ingresses',
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
  )
  const types = fc.constantFrom(
    'application/json',
    'application/yaml',
    'application/vnd.kubernetes.protobuf',
    'application/merge-patch+json',
    'application/json-patch+json',
    'application/strategic-merge-patch+json',
    'text/plain',
    '',
  )

  test('any JSON as a body gets an answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.tuple(writes, targets, value, types), async ([method, target, body, type]) => {
        await expectSane(method, target, { body: JSON.stringify(body), type })
      }),
      { numRuns: runs },
    )
  })

  test('objects that are nearly right get an answer', async () => {
    const spec = fc.dictionary(key, value, { maxKeys: 4 })
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(targets, spec, spec, fc.string({ maxLength: 5 })),
        async ([target, parts, metadata, name]) => {
          await expectSane('POST', `${target}?dryRun=All`, {
            body: {
              metadata: { ...metadata, name },
              spec: parts,
              status: parts,
              data: parts,
              rules: [parts],
              subjects: [parts],
            },
          })
        },
      ),
      { numRuns: runs },
    )
  })

  test('any bytes as a body get an answer', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(writes, targets, fc.uint8Array({ maxLength: 200 }), types),
        async ([method, target, body, type]) => {
          await expectSane(method, target, {
            body: type.endsWith('protobuf') ? Buffer.concat([Buffer.from('k8s\0'), body]) : body,
            type,
          })
        },
      ),
      { numRuns: runs },
    )
  })

  test('row 15: nothing reaches the prototype of all objects', () => {
    expect(Object.keys(Object.prototype)).toEqual([])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('bombs', () => {
  test.each([
    [
      'a YAML bomb',
      'application/yaml',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
        .split('')
        .map((letter, index) => `${letter}: &${letter} [${Array(9).fill(`*${'abcdefgh'[index]}`).join()}]`)
        .join('\n')}\n`,
    ],
    ['deep JSON', 'application/json', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['deep lists', 'application/json', `${'['.repeat(1_000_000)}`],
    ['deep YAML', 'application/yaml', `${'- '.repeat(50_000)}x`],
    ['a long name', 'application/json', `{"metadata":{"name":"${'a'.repeat(2_000_000)}"}}`],
  ])('row 13: %s is refused, and the server goes on', async (_, type, body) => {
    expect((await tested.ask('POST', maps, { body, type })).status).toBeGreaterThanOrEqual(400)
    expect((await tested.ask('GET', '/api/v1/namespaces/default')).status).toBe(200)
  })

  test('row 13: an object that is right but for its depth is refused for that', async () => {
    const body = `{"metadata":{"name":"deep"},"more":${'{"a":'.repeat(1100)}1${'}'.repeat(1100)}}`
    const { status, text } = await tested.ask('POST', `${maps}?fieldValidation=Ignore`, { body })
    expect(status).toBe(400)
    expect(text).toContain('exceeded max depth')
  })

  test('row 13: a body of more than 3 MiB is refused, whole or in pieces', async () => {
    expect(await tested.ask('POST', maps, { body: Buffer.alloc(3 * 1024 * 1024 + 1, 0x20) })).toMatchObject({
      status: 413,
    })
    let taken = 0
    const endless = {
      async *[Symbol.asyncIterator]() {
        for (;;) {
          taken++
          yield await Promise.resolve(Buffer.alloc(65_536, 0x20))
        }
      },
    }
    const response = await tested.server.transport({
      method: 'POST',
      target: maps,
      headers: {},
      body: endless,
      signal: new AbortController().signal,
    })
    expect(response.status).toBe(413)
    expect(taken).toBeLessThan(60)
  })

  test('row 15: keys named __proto__ are stored as data', async () => {
    const made = await tested.ask('POST', maps, {
      body: '{"metadata":{"name":"proto"},"data":{"__proto__":"x","constructor":"y"}}',
    })
    expect(made.status).toBe(201)
    expect((await tested.ask('GET', `${maps}/proto`)).text).toContain('"data":{"__proto__":"x","constructor":"y"}')
    const patched = await tested.ask('PATCH', `${maps}/proto`, {
      type: 'application/merge-patch+json',
      body: '{"data":{"__proto__":"z"}}',
    })
    expect(patched.text).toContain('"data":{"__proto__":"z","constructor":"y"}')
  })
})

describe('values that are too large to be', () => {
  const long = 'a'.repeat(2000)
  test.each<[string, string, number]>([
    ['a version of 30 digits', `${maps}?resourceVersion=${'9'.repeat(30)}`, 400],
    ['a watch from it', `${maps}?watch=true&resourceVersion=${'9'.repeat(30)}`, 400],
    ['a version of 64 bits', `${maps}?resourceVersion=9999999999999999999`, 504],
    ['exactly this version', `${maps}?resourceVersion=9999999999999999999&resourceVersionMatch=Exact`, 504],
    ['a page at this version', `${maps}?resourceVersion=9999999999999999999&limit=1`, 504],
    ['an object at this version', `${maps}/none?resourceVersion=9999999999999999999`, 504],
    ['a name', `${maps}?fieldSelector=metadata.name%3D${long}`, 200],
    ['a name that no key can have', `${maps}?fieldSelector=metadata.name%3D%C3%BC`, 200],
    ['a namespace', `/api/v1/configmaps?fieldSelector=metadata.namespace%3D${long}`, 200],
  ])('%s is an answer, not an internal error', async (_, path, status) => {
    expect((await tested.ask('GET', path)).status).toBe(status)
  })
})
