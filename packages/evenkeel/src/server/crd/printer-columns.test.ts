import { expect, test } from 'vitest'
import type { PrinterColumn } from '#api'
import type { Cell } from '@evenkeel/builtins'
import { columnsFromPrinter } from './printer-columns.ts'

const nowMs = 1_767_225_660_000
const shape = {
  apiVersion: 'example.com/v1',
  kind: 'Shape',
  metadata: { name: 'round', creationTimestamp: '2026-01-01T00:00:00Z', labels: { 'example.com/tier': 'gold' } },
  spec: {
    sides: 4,
    ratio: 1.5,
    tiny: 0.00002,
    filled: true,
    color: 'red',
    empty: null,
    list: ['a', { b: '<' }],
    sorted: { 10: 1, 9: 2 },
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Synced', status: 'False' },
    ],
    at: 'noon',
    never: '',
  },
}

function cellOf(type: PrinterColumn['type'], jsonPath: string): Cell | undefined {
  return columnsFromPrinter([{ name: 'Value', type, jsonPath }]).cells(shape, nowMs)[1]
}

test('columnsFromPrinter shows the age when nothing else is asked for', () => {
  const columns = columnsFromPrinter([])
  expect(columns.definitions.map(({ name, type, format, priority }) => [name, type, format, priority])).toEqual([
    ['Name', 'string', 'name', 0],
    ['Age', 'date', '', 0],
  ])
  expect(columns.cells(shape, nowMs)).toEqual(['round', '60s'])
})

test('columnsFromPrinter puts the name first and takes over what a column says', () => {
  const columns = columnsFromPrinter([
    { name: 'Sides', type: 'integer', jsonPath: '.spec.sides', format: 'int32', description: 'How many.', priority: 1 },
    { name: 'Color', type: 'string', jsonPath: '.spec.color' },
  ])
  expect(columns.definitions.slice(1)).toEqual([
    { name: 'Sides', type: 'integer', format: 'int32', description: 'How many.', priority: 1 },
    {
      name: 'Color',
      type: 'string',
      format: '',
      description: 'Custom resource definition column (in JSONPath format): .spec.color',
      priority: 0,
    },
  ])
  expect(columns.cells(shape, nowMs)).toEqual(['round', 4, 'red'])
})

test.each<[PrinterColumn['type'], string, Cell]>([
  ['string', '.spec.color', 'red'],
  ['string', '.spec.sides', '4'],
  ['string', '.spec.ratio', '1.5'],
  ['string', '.spec.tiny', '2e-05'],
  ['string', '.spec.filled', 'true'],
  ['string', '.spec.empty', '<no value>'],
  ['string', '.spec.missing', null],
  ['string', '.spec.list', '["a",{"b":"\\u003c"}]'],
  ['string', '.spec.sorted', '{"10":1,"9":2}'],
  ['string', '.status.conditions[?(@.type=="Ready")].status', 'True'],
  ['string', '.status.conditions[*].status', 'True'],
  ['string', ".metadata.labels['example\\.com/tier']", 'gold'],
  ['string', '.metadata.labels.example\\.com/tier', 'gold'],
  ['integer', '.spec.sides', 4],
  ['integer', '.spec.ratio', 1],
  ['integer', '.spec.color', null],
  ['integer', '.spec.filled', null],
  ['integer', '.spec.empty', null],
  ['number', '.spec.ratio', 1.5],
  ['number', '.spec.sides', 4],
  ['number', '.spec.color', null],
  ['boolean', '.spec.filled', true],
  ['boolean', '.spec.sides', null],
  ['date', '.metadata.creationTimestamp', '60s'],
  ['date', '.status.at', '<invalid>'],
  ['date', '.status.never', '<unknown>'],
  ['date', '.spec.sides', null],
])('columnsFromPrinter shows the %s at %s as %j', (type, path, cell) => {
  expect(cellOf(type, path)).toBe(cell)
})

test('columnsFromPrinter refuses a path it cannot read', () => {
  expect(() => columnsFromPrinter([{ name: 'Odd', type: 'string', jsonPath: '.spec[' }])).toThrow(RangeError)
})

test('the columns of a row share a budget, and each row has its own', () => {
  const columns = columnsFromPrinter(
    ['A', 'B', 'C'].map((name) => ({ name, type: 'integer' as const, jsonPath: '..n' })),
  )
  const row = {
    apiVersion: 'example.com/v1',
    kind: 'Shape',
    metadata: { name: 'a' },
    n: 1,
    spec: { list: Array.from({ length: 1200 }, (_, n) => n) },
  }
  // 2,500 values may be visited: enough for two columns.
  expect(columns.cells(row, nowMs)).toEqual(['a', 1, 1, null])
  expect(columns.cells(row, nowMs)).toEqual(['a', 1, 1, null])
})

test('columnsFromPrinter leaves the cell empty when a value is too deep to print', () => {
  let deep: unknown = 1
  for (let level = 0; level < 20_000; level++) deep = [deep]
  const columns = columnsFromPrinter([{ name: 'Deep', type: 'string', jsonPath: '.spec' }])
  expect(columns.cells({ ...shape, spec: deep as never }, nowMs)).toEqual(['round', null])
})
