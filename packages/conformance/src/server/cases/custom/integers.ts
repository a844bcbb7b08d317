/**
 * Integers of 64 bits: every format, patch and expression keeps their exact value. In these bodies a bigint is written as
 * a JSON number.
 */
import assert from 'node:assert/strict'
import { defineCustom, type Custom, type CustomOptions } from '../../custom.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { patchTypes } from '../../target.ts'
import type { Place, ServerCase } from '../../target.ts'

/** The first integer that a float64 cannot hold, its neighbour, the largest and the smallest of 64 bits. */
const [odd, even, largest, smallest] = [2n ** 53n + 1n, 2 ** 53, 2n ** 63n - 1n, -(2n ** 63n)]

const integer = { type: 'integer', format: 'int64' } as const
const fields = {
  type: 'object',
  properties: {
    i: integer,
    j: integer,
    n: { type: 'number' },
    free: { 'x-kubernetes-preserve-unknown-fields': true },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: integer },
    maps: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['id'],
      items: { type: 'object', required: ['id'], properties: { id: integer, v: { type: 'string' } } },
    },
  },
} as const

function widgetsIn(place: Place, options: CustomOptions = {}): Promise<Custom> {
  return defineCustom(place, { spec: fields, ...options })
}

async function expectSpec(widgets: Custom, name: string, spec: object): Promise<void> {
  assert.deepEqual(ok(await widgets.get(name)).spec, spec)
}

const formats: readonly ServerCase[] = [
  {
    id: 'server/integers/json',
    rule: 'Integers of 64 bits are exact, with and without a schema; larger ones are floats.',
    async run(place) {
      const widgets = await widgetsIn(place)
      const spec = { free: [odd, -odd, 1.5], i: largest, j: smallest, n: odd }
      ok(await widgets.create('a', { spec }), 201)
      assert.match(
        (await widgets.get('a')).text,
        /"free":\[9007199254740993,-9007199254740993,1.5\],"i":9223372036854775807,"j":-9223372036854775808,"n":9007199254740993/,
      )
      ok(await widgets.create('b', { spec: { free: largest + 1n } }), 201)
      await expectSpec(widgets, 'b', { free: 2 ** 63 })
    },
  },
  {
    id: 'server/integers/list-and-watch',
    rule: 'Lists and watch events have the exact value.',
    async run(place) {
      const widgets = await widgetsIn(place)
      ok(await widgets.create('a', { spec: { i: odd } }), 201)
      expectMatch(ok(await widgets.list()), { items: [{ spec: { i: odd } }] })
      const events = await widgets.watch({ resourceVersion: '0' })
      expectMatch(await events.next(), { type: 'ADDED', object: { spec: { i: odd } } })
      events.close()
    },
  },
  {
    id: 'server/integers/yaml',
    rule: 'YAML keeps the exact value, in requests and in responses.',
    async run(place) {
      const widgets = await widgetsIn(place)
      const body = `apiVersion: ${widgets.group}/v1\nkind: Widget\nmetadata: {name: a}\nspec: {i: ${odd}, j: 0x1fffffffffffff3}\n`
      ok(await widgets.request('POST', undefined, { body, type: 'application/yaml' }), 201)
      await expectSpec(widgets, 'a', { i: odd, j: 0x1fffffffffffff3n })
      const answer = await widgets.request('GET', 'a', { accept: 'application/yaml' })
      assert.match(answer.text, /^ {2}i: 9007199254740993$/m)
    },
  },
  {
    id: 'server/integers/columns',
    rule: 'Tables show exact integers.',
    async run(place) {
      const widgets = await widgetsIn(place, {
        version: {
          additionalPrinterColumns: [
            { name: 'I', type: 'integer', jsonPath: '.spec.i' },
            { name: 'T', type: 'string', jsonPath: '.spec.i' },
          ],
        },
      })
      ok(await widgets.create('a', { spec: { i: odd } }), 201)
      const answer = await widgets.list({}, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' })
      expectMatch(ok(answer), { rows: [{ cells: ['a', odd, String(odd)] }] })
    },
  },
  {
    id: 'server/integers/built-in',
    rule: 'Fields of built-in kinds are exact too, and more than 64 bits are an error.',
    async run(place) {
      const job = (activeDeadlineSeconds: bigint): object => ({
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'a' },
        spec: {
          activeDeadlineSeconds,
          template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } },
        },
      })
      expectMatch(ok(await place.post('jobs', job(odd)), 201), { spec: { activeDeadlineSeconds: odd } })
      expectStatus(await place.post('jobs', job(largest + 1n)), {
        code: 400,
        message:
          /cannot unmarshal number 9223372036854775808 into Go struct field JobSpec\.spec\.activeDeadlineSeconds of type int64/,
      })
    },
  },
]

const writes: readonly ServerCase[] = [
  {
    id: 'server/integers/patches',
    rule: 'Merge and JSON patches set and test the exact value.',
    async run(place) {
      const widgets = await widgetsIn(place)
      ok(await widgets.create('a', { spec: { i: 1 } }), 201)
      ok(await widgets.patch('a', { spec: { i: odd } }))
      await expectSpec(widgets, 'a', { i: odd })
      const test = (value: unknown): object[] => [
        { op: 'test', path: '/spec/i', value },
        { op: 'add', path: '/spec/j', value: largest },
      ]
      expectStatus(await widgets.patch('a', test(even), { type: patchTypes.json }), { code: 422 })
      ok(await widgets.patch('a', test(odd), { type: patchTypes.json }))
      await expectSpec(widgets, 'a', { i: odd, j: largest })
    },
  },
  {
    id: 'server/integers/no-change',
    rule: 'A write of the same integer is no change, and of its neighbour is one.',
    async run(place) {
      const widgets = await widgetsIn(place)
      const before = ok(await widgets.create('a', { spec: { i: odd } }), 201).metadata.resourceVersion
      assert.equal(ok(await widgets.patch('a', { spec: { i: odd } })).metadata.resourceVersion, before)
      assert.notEqual(ok(await widgets.patch('a', { spec: { i: even } })).metadata.resourceVersion, before)
      await expectSpec(widgets, 'a', { i: 2n ** 53n })
    },
  },
  {
    id: 'server/integers/apply',
    rule: 'Server-side apply keeps, compares and owns exact integers, also as keys of lists.',
    async run(place) {
      const widgets = await widgetsIn(place)
      const maps = [
        { id: odd, v: 'a' },
        { id: 2n ** 53n, v: 'b' },
      ]
      const spec = { i: odd, maps, set: [odd, 2n ** 53n] }
      const made = await widgets.apply('a', { spec }, { manager: 'one' })
      ok(made, 201)
      await expectSpec(widgets, 'a', spec)
      assert.match(made.text, /"v:9007199254740993":\{\}/)
      assert.match(made.text, /"k:\{\\"id\\":9007199254740993\}":/)
      expectStatus(await widgets.apply('a', { spec: { i: even } }, { manager: 'two' }), {
        code: 409,
        message: /conflict with "one": \.spec\.i/,
      })
      ok(await widgets.apply('a', { spec: { i: odd } }, { manager: 'two' }))
    },
  },
]

const checks: readonly ServerCase[] = [
  {
    id: 'server/integers/validation',
    rule: 'Limits, enums and multiples compare exact values.',
    async run(place) {
      const widgets = await widgetsIn(place, {
        spec: {
          type: 'object',
          properties: {
            max: { ...integer, maximum: 5 },
            multiple: { ...integer, multipleOf: 2 },
            text: { type: 'string' },
            one: { ...integer, enum: [odd] },
          },
        },
      })
      const refused = async (spec: object, message: RegExp): Promise<void> => {
        expectStatus(await widgets.create('a', { spec }), { code: 422, message })
      }
      await refused({ max: odd }, /spec\.max: Invalid value: 9007199254740993: spec\.max in body should be less than/)
      await refused({ multiple: odd }, /9007199254740993: spec\.multiple in body should be a multiple of 2/)
      await refused({ text: odd }, /spec\.text in body must be of type string: "integer"/)
      await refused(
        { one: even },
        /spec\.one: Unsupported value: 9007199254740992: supported values: "9007199254740993"/,
      )
      ok(await widgets.create('b', { spec: { multiple: odd + 1n, one: odd } }), 201)
      await expectSpec(widgets, 'b', { multiple: odd + 1n, one: odd })
    },
  },
  {
    id: 'server/integers/rules',
    rule: 'Rules calculate with exact integers, and an overflow is an error.',
    async run(place) {
      const rule = `self.i + 1 == ${odd + 1n} && self.i % 2 == 1 && string(self.i) == '${odd}'`
      const widgets = await widgetsIn(place, {
        spec: {
          ...fields,
          'x-kubernetes-validations': [{ rule, message: 'not exact' }, { rule: 'self.i + 1 > self.i' }],
        },
      })
      ok(await widgets.create('a', { spec: { i: odd } }), 201)
      expectStatus(await widgets.patch('a', { spec: { i: even } }), { code: 422, message: /not exact/ })
      expectStatus(await widgets.patch('a', { spec: { i: largest } }), { code: 422, message: /overflow/ })
    },
  },
  {
    id: 'server/integers/defaults',
    rule: 'Defaults of a schema are exact.',
    async run(place) {
      const widgets = await widgetsIn(place, {
        spec: { type: 'object', default: {}, properties: { i: { ...integer, default: odd } } },
      })
      ok(await widgets.create('a'), 201)
      await expectSpec(widgets, 'a', { i: odd })
    },
  },
]

export const integerCases: readonly ServerCase[] = [...formats, ...writes, ...checks]
