import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isExpired } from '#api'
import type { KubeObject } from '#api'
import { isConnectionError } from '#client'
import type { ChangeArrival } from '../list-watch.ts'
import { Blocks } from '../storing/blocks.ts'
import { formOf } from '../storing/form.ts'
import { readLines } from './read-lines.ts'

const form = formOf<KubeObject>({ apiVersion: 'test.dev/v1', kind: 'Widget' })
const keeping = formOf<KubeObject>({ apiVersion: 'test.dev/v1', kind: 'Widget' }, { keepManagedFields: true })

function changes(text: string, { blocks, keep = false }: { blocks?: Blocks, keep?: boolean } = {}): ChangeArrival<KubeObject>[] {
  return readLines(Buffer.from(text), { form: keep ? keeping : form, blocks }) as ChangeArrival<KubeObject>[]
}

const value = fc.jsonValue({ maxDepth: 3 })
const key = fc.oneof(fc.constantFrom('spec', 'status', 'metadata ', '__proto__', 'constructor', 'name', 'managedFields', 'a"b\\c'), fc.string())
const text = fc.oneof(fc.constantFrom('a', 'web-1', 'a"b', 'ä\u2028', '\\', '}{'), fc.string({ minLength: 1 }))

/** Entries in any order, as a server may write them. */
const fields = (own: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> =>
  fc.tuple(fc.record(own), fc.dictionary(key, value, { maxKeys: 4 }), fc.nat(5)).map(([known, others, turn]) => {
    const entries = [...Object.entries(others).filter(([name]) => !Object.hasOwn(own, name)), ...Object.entries(known)]
    return Object.fromEntries([...entries.slice(turn), ...entries.slice(0, turn)])
  })

const object = fields({
  apiVersion: fc.constant('test.dev/v1'), kind: fc.constant('Widget'),
  metadata: fc.oneof(
    fields({ name: text, namespace: text, resourceVersion: fc.constantFrom('1', '12345678901234567890'), managedFields: fc.array(value) }),
    fields({ name: text, resourceVersion: fc.constant('7') }),
  ),
})

test.each([true, false])('readLines gives the objects that parsing the lines would give (managed fields kept: %s)', (keep) => {
  fc.assert(fc.property(fc.array(fc.tuple(fc.constantFrom('ADDED', 'MODIFIED', 'DELETED'), object), { maxLength: 4 }), fc.boolean(), (events, inBlocks) => {
    const lines = events.map(([type, one]) => JSON.stringify({ type, object: one })).join('\n')
    const arrivals = changes(lines, { keep, ...inBlocks && { blocks: new Blocks() } })
    expect(arrivals.map(({ type }) => type)).toEqual(events.map(([type]) => type))
    for (const [index, { item }] of arrivals.entries()) {
      const expected = JSON.parse(JSON.stringify(events[index]?.[1])) as { metadata: Record<string, unknown> }
      if (!keep) delete expected.metadata['managedFields']
      expect(JSON.stringify(sorted(item.object))).toBe(JSON.stringify(sorted(expected)))
      expect([item.name, item.namespace, item.version]).toEqual([expected.metadata['name'], expected.metadata['namespace'] ?? '', expected.metadata['resourceVersion']])
    }
  }), { numRuns: 300 })
})

test('readLines cuts managed fields out wherever they are', () => {
  for (const metadata of ['"managedFields":[{"a":"]}"}],"name":"x","resourceVersion":"1"', '"name":"x","managedFields":[],"resourceVersion":"1"', '"name":"x","resourceVersion":"1","managedFields":null']) {
    const [arrival] = changes(`{"type":"ADDED","object":{"kind":"Widget","metadata":{${metadata}},"spec":{}}}`)
    expect(arrival?.item.object).toEqual({ kind: 'Widget', metadata: { name: 'x', resourceVersion: '1' }, spec: {} })
  }
})

test('readLines reads bookmarks, and throws what a server says went wrong', () => {
  expect(readLines(Buffer.from('{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}\n\n'), { form })).toEqual([{ type: 'BOOKMARK', version: '9', initialEventsEnd: true }])
  const error = thrownBy('{"type":"ERROR","object":{"kind":"Status","status":"Failure","reason":"Expired","code":410,"message":"too old"}}')
  expect(isExpired(error)).toBe(true)
})

test.each([
  ['cut', '{"type":"ADDED","object":{"metadata":{"name":"a"'], ['no event', '{"hello":1}'], ['no JSON', 'oops'], ['no metadata', '{"type":"ADDED","object":{"kind":"Widget"}}'],
  ['an unknown type', '{"type":"CHANGED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}'], ['a bookmark without a version', '{"type":"BOOKMARK","object":{"metadata":{}}}'],
])('76 readLines refuses a line that is %s', (_, line) => {
  expect(isConnectionError(thrownBy(`{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}\n${line}`), 'garbled')).toBe(true)
})

test('76 an item whose bytes turn out to be no JSON says so when it is read, and has the server asked again', () => {
  const broken: Error[] = []
  const watched = formOf<KubeObject>({ apiVersion: 'test.dev/v1', kind: 'Widget' }, { onBroken: (error) => { broken.push(error) } })
  const [arrival] = readLines(Buffer.from('{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"},"spec":oops}}'), { form: watched }) as ChangeArrival<KubeObject>[]
  expect(() => arrival?.item.object).toThrow('cannot be read')
  expect(broken).toHaveLength(1)
})

test('Blocks keep what is larger than a block, and many in one', () => {
  const blocks = new Blocks()
  const large = `{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"},"spec":"${'x'.repeat(3_000_000)}"}}`
  const small = '{"type":"ADDED","object":{"metadata":{"name":"b","resourceVersion":"2"},"spec":"é"}}'
  const [first, second, third] = changes([small, large, small].join('\n'), { blocks })
  expect((first?.item.object as { spec?: string }).spec).toBe('é')
  expect((second?.item.object as { spec?: string }).spec).toHaveLength(3_000_000)
  expect((third?.item.object as { spec?: string }).spec).toBe('é')
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
  return Object.entries(input).sort(([a], [b]) => a < b ? -1 : 1).map(([name, inner]) => [name, sorted(inner)])
}
