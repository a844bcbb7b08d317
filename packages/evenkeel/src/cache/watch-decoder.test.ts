import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { isExpired, parseJson, stringifyJson, type KubeObject } from '#api'
import { isConnectionError } from '#client'
import { Items, type Item } from './items.ts'
import type { ChangeEvent } from './list-watch.ts'
import { kindDecoder } from './transform.ts'
import { WatchDecoder } from './watch-decoder.ts'

const form = kindDecoder<KubeObject>({ apiVersion: 'test.dev/v1', kind: 'Widget' })
const keeping = kindDecoder<KubeObject>({ apiVersion: 'test.dev/v1', kind: 'Widget' }, { keepManagedFields: true })

function changes(text: string, { keep = false }: { keep?: boolean } = {}): ChangeEvent<KubeObject>[] {
  return new WatchDecoder({ decoder: keep ? keeping : form }).read(Buffer.from(text)) as ChangeEvent<KubeObject>[]
}

const value = fc.jsonValue({ maxDepth: 3 })
const key = fc.oneof(
  fc.constantFrom('spec', 'status', 'metadata ', '__proto__', 'constructor', 'name', 'managedFields', 'a"b\\c'),
  fc.string(),
)
const text = fc.oneof(fc.constantFrom('a', 'web-1', 'a"b', 'ä\u2028', '\\', '}{'), fc.string({ minLength: 1 }))

/** Entries in any order, as a server may write them. */
const fields = (own: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> =>
  fc.tuple(fc.record(own), fc.dictionary(key, value, { maxKeys: 4 }), fc.nat(5)).map(([known, others, turn]) => {
    const entries = [...Object.entries(others).filter(([name]) => !Object.hasOwn(own, name)), ...Object.entries(known)]
    return Object.fromEntries([...entries.slice(turn), ...entries.slice(0, turn)])
  })

const object = fields({
  apiVersion: fc.constant('test.dev/v1'),
  kind: fc.constant('Widget'),
  metadata: fc.oneof(
    fields({
      name: text,
      namespace: text,
      resourceVersion: fc.constantFrom('1', '12345678901234567890'),
      managedFields: fc.array(value),
    }),
    fields({ name: text, resourceVersion: fc.constant('7') }),
  ),
})

test.each([true, false])(
  'LineReader gives the objects that parsing the lines would give (managed fields kept: %s)',
  (keep) => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('ADDED', 'MODIFIED', 'DELETED'), object), { maxLength: 4 }),
        (events) => {
          const lines = events.map(([type, one]) => JSON.stringify({ type, object: one })).join('\n')
          const arrivals = changes(lines, { keep })
          expect(arrivals.map(({ type }) => type)).toEqual(events.map(([type]) => type))
          for (const [index, { item }] of arrivals.entries()) expectItem(item, events[index]?.[1], keep)
        },
      ),
      { numRuns: 300 },
    )
  },
)

test.each([true, false])(
  'LineReader gathers the list that parsing the lines would give (managed fields kept: %s)',
  (keep) => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('ADDED', 'MODIFIED', 'DELETED'), object), { maxLength: 12 }),
        fc.nat(12),
        (events, end) => {
          const bookmark = {
            type: 'BOOKMARK',
            object: { metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } } },
          }
          const all = events.map(([type, one]) => ({ type, object: one }) as object)
          all.splice(end, 0, bookmark)
          const gather = new Items<KubeObject>()
          const arrivals = new WatchDecoder({ decoder: keep ? keeping : form, gather }).read(
            Buffer.from(all.map((event) => JSON.stringify(event)).join('\n')),
          )
          const expected = new Map<string, unknown>()
          for (const [type, one] of events.slice(0, end)) {
            const { name, namespace = '' } = one['metadata'] as { name: string; namespace?: string }
            if (type === 'DELETED') expected.delete(JSON.stringify([namespace, name]))
            else expected.set(JSON.stringify([namespace, name]), one)
          }
          expect(gather.size).toBe(expected.size)
          for (const [key, one] of expected) {
            const [namespace, name] = JSON.parse(key) as [string, string]
            const item = gather.get(namespace, name)
            expect(item).toBe(gather.get(namespace, name))
            if (item) expectItem(item, one, keep)
          }
          // What comes after the list is told.
          expect(arrivals.map(({ type }) => type)).toEqual(['BOOKMARK', ...events.slice(end).map(([type]) => type)])
        },
      ),
      { numRuns: 150 },
    )
  },
)

function expectItem(item: Item<KubeObject>, one: unknown, keep: boolean): void {
  const expected = parseJson(JSON.stringify(one)) as unknown as { metadata: Record<string, unknown> }
  if (!keep) delete expected.metadata['managedFields']
  expect(stringifyJson(sorted(item.object))).toBe(stringifyJson(sorted(expected)))
  expect([item.name, item.namespace, item.version]).toEqual([
    expected.metadata['name'],
    expected.metadata['namespace'] ?? '',
    expected.metadata['resourceVersion'],
  ])
}

test('LineReader cuts managed fields out wherever they are', () => {
  for (const metadata of [
    '"managedFields":[{"a":"]}"}],"name":"x","resourceVersion":"1"',
    '"name":"x","managedFields":[],"resourceVersion":"1"',
    '"name":"x","resourceVersion":"1","managedFields":null',
  ]) {
    const [arrival] = changes(`{"type":"ADDED","object":{"kind":"Widget","metadata":{${metadata}},"spec":{}}}`)
    expect(arrival?.item.object).toEqual({ kind: 'Widget', metadata: { name: 'x', resourceVersion: '1' }, spec: {} })
  }
})

test('LineReader reads bookmarks, and throws what a server says went wrong', () => {
  expect(
    new WatchDecoder({ decoder: form }).read(
      Buffer.from(
        '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}\n\n',
      ),
    ),
  ).toEqual([{ type: 'BOOKMARK', version: '9', initialEventsEnd: true }])
  const error = thrownBy(
    '{"type":"ERROR","object":{"kind":"Status","status":"Failure","reason":"Expired","code":410,"message":"too old"}}',
  )
  expect(isExpired(error)).toBe(true)
})

test.each([
  ['cut', '{"type":"ADDED","object":{"metadata":{"name":"a"'],
  ['no event', '{"hello":1}'],
  ['no JSON', 'oops'],
  ['wrong in its last byte', '{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"}}x'],
  ['no metadata', '{"type":"ADDED","object":{"kind":"Widget"}}'],
  ['an unknown type', '{"type":"CHANGED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}'],
  ['a bookmark without a version', '{"type":"BOOKMARK","object":{"metadata":{}}}'],
])('76 LineReader refuses a line that is %s', (_, line) => {
  expect(
    isConnectionError(
      thrownBy(`{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}\n${line}`),
      'garbled',
    ),
  ).toBe(true)
})

test('76 an item whose bytes turn out to be no JSON says so when it is read, and has the server asked again', () => {
  const broken: Error[] = []
  const watched = kindDecoder<KubeObject>(
    { apiVersion: 'test.dev/v1', kind: 'Widget' },
    {
      onBroken: (error) => {
        broken.push(error)
      },
    },
  )
  const [arrival] = new WatchDecoder({ decoder: watched }).read(
    Buffer.from('{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"},"spec":oops}}'),
  ) as ChangeEvent<KubeObject>[]
  expect(() => arrival?.item.object).toThrow('cannot decode the cached JSON')
  expect(broken).toHaveLength(1)
})

test('LineReader gathers what is larger than a block, and many in one', () => {
  const line = (name: string, spec: string): string =>
    JSON.stringify({ type: 'ADDED', object: { metadata: { name, resourceVersion: '1' }, spec } })
  const gather = new Items<KubeObject>()
  new WatchDecoder({ decoder: form, gather }).read(
    Buffer.from([line('a', 'é'), line('b', 'x'.repeat(3_000_000)), line('c', 'é')].join('\n')),
  )
  const specs = ['a', 'b', 'c'].map((name) => (gather.get('', name)?.object as { spec?: string }).spec)
  expect([specs[0], specs[1]?.length, specs[2]]).toEqual(['é', 3_000_000, 'é'])
})

test('LineReader reads what kube-apiserver writes: fields by name, metadata after a null', () => {
  const metadata =
    '"creationTimestamp":null,"generation":1,"labels":{"a":"}"},"managedFields":[{"fieldsV1":{"f:x":{"k:{\\"type\\":\\"]}\\"}":{}}}}],"name":"x","namespace":"n","resourceVersion":"7","uid":"u"'
  const gather = new Items<KubeObject>()
  new WatchDecoder({ decoder: form, gather }).read(
    Buffer.from(
      `{"type":"ADDED","object":{"apiVersion":"test.dev/v1","data":null,"kind":"Widget","metadata":{${metadata}},"spec":{"a":1}}}`,
    ),
  )
  expect(gather.get('n', 'x')?.object).toMatchObject({
    metadata: { name: 'x', uid: 'u', labels: { a: '}' } },
    spec: { a: 1 },
  })
  expect(gather.get('n', 'x')?.object.metadata.managedFields).toBeUndefined()
})

test('LineReader copies lines as they came only where objects stay as they came', () => {
  const line = (name: string, metadata = {}): string =>
    JSON.stringify({
      type: 'ADDED',
      object: {
        apiVersion: 'test.dev/v1',
        kind: 'Widget',
        metadata: { name, resourceVersion: '1', ...metadata },
        spec: { a: 1, b: 2 },
      },
    })
  const read = (reading: typeof form, runs: readonly string[]): [copies: number, specs: unknown[]] => {
    const gather = new Items<KubeObject>()
    const copying = vi.spyOn(gather, 'copyLines')
    const reader = new WatchDecoder({ decoder: reading, gather })
    for (const run of runs) reader.read(Buffer.from(run))
    return [copying.mock.calls.length, [...gather.values()].map(({ object }) => (object as { spec?: unknown }).spec)]
  }
  const whole = { a: 1, b: 2 }
  expect(read(form, [line('a'), line('b'), line('c')])).toEqual([3, [whole, whole, whole]])
  const managed = line('b', { managedFields: [{}] })
  expect(read(form, [line('a'), managed, line('c'), managed, line('d')])).toEqual([2, [whole, whole, whole, whole]])
  expect(read(keeping, [line('a'), managed, line('c')])).toEqual([3, [whole, whole, whole]])
  const picked = kindDecoder<KubeObject>({
    apiVersion: 'test.dev/v1',
    kind: 'Widget',
    paths: ['spec.a'],
  } as unknown as Parameters<typeof kindDecoder>[0])
  expect(read(picked, [line('a'), line('b')])).toEqual([0, [{ a: 1 }, { a: 1 }]])
})

function thrownBy(lines: string): unknown {
  try {
    changes(lines)
  } catch (error) {
    return error
  }
  return undefined
}

/** The same value with keys in order, so that texts can be compared. */
function sorted(input: unknown): unknown {
  if (Array.isArray(input)) return input.map(sorted)
  if (typeof input !== 'object' || input === null) return input
  return Object.entries(input)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => [name, sorted(inner)])
}

test('WatchDecoder finds the namespace wherever it is, also after the managed fields', () => {
  for (const metadata of [
    '"name":"x","resourceVersion":"1","managedFields":[],"namespace":"a"',
    '"managedFields":[],"namespace":"a","resourceVersion":"1","name":"x"',
  ]) {
    const [arrival] = changes(`{"type":"ADDED","object":{"kind":"Widget","metadata":{${metadata}}}}`)
    expect(arrival?.item).toMatchObject({ namespace: 'a', name: 'x', version: '1' })
  }
})
