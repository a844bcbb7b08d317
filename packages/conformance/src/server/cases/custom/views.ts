/**
 * Printer columns, selectable fields and metadata of custom objects.
 */
import assert from 'node:assert/strict'
import { anything, defineCustom } from '../../custom.ts'
import type { Custom } from '../../custom.ts'
import { brief, expectMatch, expectStatus, namesOf, ok } from '../../expect.ts'
import type { Fields } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }

interface Table {
  readonly columnDefinitions: readonly {
    readonly name: string
    readonly type: string
    readonly format: string
    readonly description: string
    readonly priority: number
  }[]
  readonly rows: readonly { readonly cells: readonly unknown[] }[]
}

async function tableOf(widgets: Custom, query: Readonly<Record<string, string>> = {}): Promise<Table> {
  return ok(await widgets.list(query, asTable), 200) as unknown as Table
}

const column = (
  [name, type, jsonPath]: readonly [name: string, type: string, jsonPath: string],
  more: Fields = {},
): Fields => ({ name, type, jsonPath, ...more })

function withColumns(place: Place, additionalPrinterColumns: readonly Fields[]): Promise<Custom> {
  return defineCustom(place, { spec: anything, version: { additionalPrinterColumns } })
}

const columns: readonly ServerCase[] = [
  {
    id: 'server/custom-columns/default',
    rule: 'Without printer columns a table has name and age.',
    async run(place) {
      const widgets = await defineCustom(place)
      ok(await widgets.create('one'), 201)
      const { columnDefinitions, rows } = await tableOf(widgets)
      assert.deepEqual(
        columnDefinitions.map(({ name, type, format, priority }) => [name, type, format, priority]),
        [
          ['Name', 'string', 'name', 0],
          ['Age', 'date', '', 0],
        ],
      )
      expectMatch(rows, [
        { cells: ['one', /^\d+s$/], object: { kind: 'PartialObjectMetadata', metadata: { name: 'one' } } },
      ])
    },
  },
  {
    id: 'server/custom-columns/own',
    rule: 'Printer columns follow the name, in their order; age appears only if it is listed.',
    async run(place) {
      const widgets = await withColumns(place, [
        column(['Size', 'integer', '.spec.size'], { description: 'How big.', priority: 1, format: 'int32' }),
        column(['Ready', 'boolean', '.spec.ready']),
        column(['Text', 'string', '.spec.text']),
      ])
      ok(await widgets.create('one', { spec: { size: 3, ready: true, text: 'hello' } }), 201)
      const { columnDefinitions, rows } = await tableOf(widgets)
      assert.deepEqual(
        columnDefinitions.map(({ name, type, format, priority }) => [name, type, format, priority]),
        [
          ['Name', 'string', 'name', 0],
          ['Size', 'integer', 'int32', 1],
          ['Ready', 'boolean', '', 0],
          ['Text', 'string', '', 0],
        ],
      )
      expectMatch(rows, [{ cells: ['one', 3, true, 'hello'] }])
    },
  },
  {
    id: 'server/custom-columns/descriptions',
    rule: 'A printer column without a description has one that names its path.',
    async run(place) {
      const widgets = await withColumns(place, [
        column(['Size', 'integer', '.spec.size'], { description: 'How big.' }),
        column(['Ready', 'boolean', '.spec.ready']),
      ])
      const { columnDefinitions } = await tableOf(widgets)
      assert.deepEqual(
        columnDefinitions.slice(1).map(({ description }) => description),
        ['How big.', 'Custom resource definition column (in JSONPath format): .spec.ready'],
      )
    },
  },
  {
    id: 'server/custom-columns/values',
    rule: 'A cell whose value is missing or of another type is null; a string column shows any value.',
    async run(place) {
      const widgets = await withColumns(place, [
        column(['I', 'integer', '.spec.i']),
        column(['N', 'number', '.spec.n']),
        column(['B', 'boolean', '.spec.b']),
        column(['S', 'string', '.spec.s']),
        column(['D', 'date', '.spec.d']),
      ])
      ok(await widgets.create('a', { spec: { i: 'text', n: 'text', b: 'true', s: 5, d: 'never' } }), 201)
      ok(
        await widgets.create('b', { spec: { i: 1.5, n: 1.5, b: false, s: { x: [1] }, d: '2020-01-01T00:00:00Z' } }),
        201,
      )
      ok(await widgets.create('c', {}), 201)
      const { rows } = await tableOf(widgets)
      expectMatch(rows, [
        { cells: ['a', null, null, null, '5', '<invalid>'] },
        { cells: ['b', 1, 1.5, false, '{"x":[1]}', /^\d+y(\d+d)?$/] },
        { cells: ['c', null, null, null, null, null] },
      ])
    },
  },
  {
    id: 'server/custom-columns/paths',
    rule: 'A path can filter and index lists; of several matches a string column shows all, other columns the first.',
    async run(place) {
      const widgets = await withColumns(place, [
        column(['Ready', 'string', '.spec.conditions[?(@.type=="Ready")].status']),
        column(['First', 'string', '.spec.list[0].name']),
        column(['All', 'string', '.spec.list[*].name']),
        column(['Key', 'string', '.metadata.labels.example\\.com/x']),
      ])
      ok(
        await widgets.create('one', {
          metadata: { labels: { 'example.com/x': 'lab' } },
          spec: {
            conditions: [
              { type: 'Other', status: 'no' },
              { type: 'Ready', status: 'yes' },
            ],
            list: [{ name: 'x' }, { name: 'y' }],
          },
        }),
        201,
      )
      const { rows } = await tableOf(widgets)
      expectMatch(rows, [{ cells: ['one', 'yes', 'x', 'x', 'lab'] }])
    },
  },
  {
    id: 'server/custom-columns/versions',
    rule: 'Every version has its own columns.',
    async run(place) {
      const versions = ['v1', 'v2'].map((name) => ({
        name,
        served: true,
        storage: name === 'v1',
        additionalPrinterColumns: [column([name.toUpperCase(), 'string', '.spec.a'])],
      }))
      const widgets = await defineCustom(place, { versions })
      const { columnDefinitions } = ok(await widgets.list({}, { ...asTable, version: 'v2' }), 200) as unknown as Table
      assert.deepEqual(
        columnDefinitions.map(({ name }) => name),
        ['Name', 'V2'],
      )
    },
  },
  {
    id: 'server/custom-columns/definitions-themselves',
    rule: 'A table of CRDs has the name and the creation timestamp.',
    async run(place) {
      const widgets = await defineCustom(place)
      const { columnDefinitions, rows } = ok(
        await place.get('customresourcedefinitions', widgets.name, asTable),
        200,
      ) as unknown as Table
      assert.deepEqual(
        columnDefinitions.map(({ name }) => name),
        ['Name', 'Created At'],
      )
      expectMatch(rows, [{ cells: [widgets.name, /^20..-..-..T..:..:..Z$/] }])
    },
  },
]

const fields = {
  spec: {
    type: 'object',
    properties: { colour: { type: 'string' }, size: { type: 'integer' }, on: { type: 'boolean' } },
  },
  version: { selectableFields: [{ jsonPath: '.spec.colour' }, { jsonPath: '.spec.size' }, { jsonPath: '.spec.on' }] },
}

const selecting: readonly ServerCase[] = [
  {
    id: 'server/custom-select/list',
    rule: 'Field selectors work on the selectable fields of the CRD; a missing field is empty.',
    async run(place) {
      const widgets = await defineCustom(place, fields)
      for (const [name, spec] of Object.entries({
        a: { colour: 'red', size: 1 },
        b: { colour: 'blue', size: 2, on: true },
        c: {},
      }))
        ok(await widgets.create(name, { spec }), 201)
      const select = async (fieldSelector: string): Promise<string[]> =>
        namesOf(ok(await widgets.list({ fieldSelector }), 200))
      assert.deepEqual(await select('spec.colour=red'), ['a'])
      assert.deepEqual(await select('spec.colour!=red'), ['b', 'c'])
      assert.deepEqual(await select('spec.size=2'), ['b'])
      assert.deepEqual(await select('spec.on=true'), ['b'])
      assert.deepEqual(await select('spec.colour='), ['c'])
      assert.deepEqual(await select('spec.colour=red,metadata.name=b'), [])
    },
  },
  {
    id: 'server/custom-select/others',
    rule: 'Other fields, except name and namespace, cannot be selected.',
    async run(place) {
      const widgets = await defineCustom(place, fields)
      expectStatus(await widgets.list({ fieldSelector: 'spec.other=1' }), {
        code: 400,
        reason: 'BadRequest',
        message: /field label not supported: spec\.other/,
      })
      ok(await widgets.list({ fieldSelector: `metadata.namespace=${place.namespace}` }), 200)
    },
  },
  {
    id: 'server/custom-select/watch',
    rule: 'A watch with selectable fields reports objects that start and stop matching.',
    async run(place) {
      const widgets = await defineCustom(place, fields)
      const stream = await widgets.watch({ fieldSelector: 'spec.colour=red' })
      ok(await widgets.create('a', { spec: { colour: 'red' } }), 201)
      ok(await widgets.patch('a', { spec: { colour: 'blue' } }))
      ok(await widgets.patch('a', { spec: { colour: 'red' } }))
      assert.deepEqual(brief(await stream.take(3)), ['ADDED a', 'DELETED a', 'ADDED a'])
    },
  },
  {
    id: 'server/custom-select/delete-collection',
    rule: 'A collection can be deleted by selectable fields.',
    async run(place) {
      const widgets = await defineCustom(place, fields)
      for (const colour of ['red', 'blue']) ok(await widgets.create(colour, { spec: { colour } }), 201)
      ok(await widgets.request('DELETE', undefined, { query: { fieldSelector: 'spec.colour=red' } }), 200)
      assert.deepEqual(namesOf(ok(await widgets.list())), ['blue'])
    },
  },
]

const protobufOf = (kind: string): string => `application/vnd.kubernetes.protobuf;as=${kind};g=meta.k8s.io;v=v1`

const metadata: readonly ServerCase[] = [
  {
    id: 'server/custom-metadata/protobuf',
    rule: 'The metadata of custom objects can be protobuf: of one object, of a list and of a watch.',
    async run(place) {
      const widgets = await defineCustom(place)
      ok(await widgets.create('one', { spec: { a: 'hidden' } }), 201)
      for (const [kind, name] of [
        ['PartialObjectMetadata', 'one'],
        ['PartialObjectMetadataList', undefined],
      ] as const) {
        const { status, bytes, headers } = await widgets.request('GET', name, { accept: protobufOf(kind) })
        assert.deepEqual([status, headers['content-type']], [200, 'application/vnd.kubernetes.protobuf'])
        const text = Buffer.from(bytes).toString('latin1')
        assert.ok(text.startsWith('k8s\0') && text.includes(kind) && text.includes('one'), text)
        assert.ok(!text.includes('hidden'), text)
      }
      const stream = await widgets.request('GET', undefined, {
        accept: `${protobufOf('PartialObjectMetadata')};stream=watch`,
        query: { watch: 'true', timeoutSeconds: '1' },
      })
      assert.equal(stream.headers['content-type'], 'application/vnd.kubernetes.protobuf;stream=watch')
      assert.match(Buffer.from(stream.bytes).toString('latin1'), /ADDED[^]*PartialObjectMetadata[^]*one/)
    },
  },
  {
    id: 'server/custom-metadata/fallback',
    rule: 'Custom objects themselves are never protobuf: the next accepted type is used.',
    async run(place) {
      const widgets = await defineCustom(place)
      ok(await widgets.create('one'), 201)
      const plain = 'application/vnd.kubernetes.protobuf'
      expectMatch(ok(await widgets.request('GET', 'one', { accept: `${plain},application/json` }), 200), {
        kind: 'Widget',
      })
      assert.equal((await widgets.request('GET', 'one', { accept: plain })).status, 406)
      assert.equal((await widgets.request('GET', undefined, { accept: protobufOf('Table') })).status, 406)
    },
  },
]

export const customViewCases: readonly ServerCase[] = [...columns, ...selecting, ...metadata]
