import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TestServer } from '../client.fixture.ts'

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const crd = `${crds}/valves.demo.example.com`
const valves = '/apis/demo.example.com/v1/namespaces/default/valves'
const merge = 'application/merge-patch+json'
let tested: TestServer

beforeEach(async () => {
  tested = await TestServer.start()
})
afterEach(async () => {
  await tested.server.stop()
})

const ports = {
  type: 'array',
  maxItems: 10,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string', maxLength: 20 }, size: { type: 'integer' } },
    'x-kubernetes-validations': [
      { rule: 'self.size >= oldSelf.size', message: 'a port never shrinks', fieldPath: '.size' },
    ],
  },
}

function definition(spec: object, root: object = {}): object {
  const properties = {
    spec,
    status: {
      type: 'object',
      properties: {
        seen: {
          type: 'integer',
          'x-kubernetes-validations': [{ rule: 'self >= oldSelf', message: 'never goes back' }],
        },
      },
    },
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'valves.demo.example.com' },
    spec: {
      group: 'demo.example.com',
      scope: 'Namespaced',
      names: { plural: 'valves', kind: 'Valve' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties, ...root } },
          subresources: { status: {} },
        },
      ],
    },
  }
}

const range = {
  type: 'object',
  required: ['min', 'max'],
  properties: { min: { type: 'integer' }, max: { type: 'integer' }, note: { type: 'string' }, ports },
  'x-kubernetes-validations': [
    { rule: 'self.min <= self.max', messageExpression: '"min is %d, max only %d".format([self.min, self.max])' },
  ],
}
const valve = (spec: object, name = 'a'): object => ({
  apiVersion: 'demo.example.com/v1',
  kind: 'Valve',
  metadata: { name },
  spec,
})
const post = (path: string, body: unknown): ReturnType<TestServer['ask']> => tested.ask('POST', path, { body })
const patch = (path: string, body: unknown): ReturnType<TestServer['ask']> =>
  tested.ask('PATCH', path, { type: merge, body })

describe('rules of a definition', () => {
  test('are held against new objects', async () => {
    const made = await post(
      crds,
      definition(range, {
        'x-kubernetes-validations': [
          { rule: 'self.metadata.name.size() < 3', reason: 'FieldValueForbidden', message: 'is too long' },
        ],
      }),
    )
    expect([made.status, made.headers['warning']]).toEqual([201, undefined])
    expect((await post(valves, valve({ min: 1, max: 2 }))).status).toBe(201)
    const refused = await post(valves, valve({ min: 3, max: 2 }, 'long'))
    expect(refused.status).toBe(422)
    expect(refused.json['details']?.['causes']).toEqual([
      { reason: 'FieldValueForbidden', message: 'Forbidden: is too long', field: '<nil>' },
      { reason: 'FieldValueInvalid', message: 'Invalid value: min is 3, max only 2', field: 'spec' },
    ])
  })

  test('are not evaluated where the object lacks what they rely on', async () => {
    await post(crds, definition(range))
    expect((await post(valves, valve({ min: 3 }))).json['details']?.['causes']).toEqual([
      { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.max' },
      {
        reason: 'FieldValueInvalid',
        field: '<nil>',
        message:
          'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
      },
    ])
  })

  test('compare with what was there, item by item', async () => {
    await post(crds, definition(range))
    await post(
      valves,
      valve({
        min: 1,
        max: 2,
        ports: [
          { name: 'x', size: 5 },
          { name: 'y', size: 5 },
        ],
      }),
    )
    const refused = await patch(`${valves}/a`, {
      spec: {
        ports: [
          { name: 'new', size: 1 },
          { name: 'y', size: 6 },
          { name: 'x', size: 4 },
        ],
      },
    })
    expect(refused.json['details']?.['causes']).toEqual([
      { reason: 'FieldValueInvalid', message: 'Invalid value: a port never shrinks', field: 'spec.ports[2].size' },
    ])
  })

  test('hold for the status, too', async () => {
    await post(crds, definition(range))
    await post(valves, valve({ min: 1, max: 2 }))
    expect((await patch(`${valves}/a/status`, { status: { seen: 5 } })).status).toBe(200)
    expect((await patch(`${valves}/a/status`, { status: { seen: 4 } })).json['message']).toBe(
      'Valve.demo.example.com "a" is invalid: status.seen: Invalid value: 4: never goes back',
    )
  })

  test('that came later are said in a warning while what breaks them does not change', async () => {
    await post(crds, definition({ ...range, 'x-kubernetes-validations': [] }))
    await post(valves, valve({ min: 3, max: 2 }))
    expect(
      (
        await patch(crd, {
          spec: { versions: [(definition(range) as { spec: { versions: object[] } }).spec.versions[0]] },
        })
      ).status,
    ).toBe(200)
    const kept = await patch(`${valves}/a`, { metadata: { labels: { a: 'b' } } })
    expect([kept.status, kept.headers['warning']]).toEqual([200, '299 - "spec: Invalid value: min is 3, max only 2"'])
    expect((await patch(`${valves}/a`, { spec: { note: 'changed' } })).status).toBe(422)
  })
})

describe('a definition with rules', () => {
  test('is refused, also as the first one, when they do not compile, are too expensive or compare what cannot be', async () => {
    const wrong = {
      type: 'object',
      properties: {
        list: {
          type: 'array',
          items: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
          'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x == y))' }],
        },
      },
      'x-kubernetes-validations': [{ rule: 'self.lost' }],
    }
    const { status, json } = await post(crds, definition(wrong))
    expect(status).toBe(422)
    expect(
      (json['details']?.['causes'] as unknown as { field: string }[]).map(({ field }) =>
        field.replace('spec.validation.openAPIV3Schema.properties[spec]', '…'),
      ),
    ).toEqual([
      '….properties[list].items.x-kubernetes-validations[0].rule',
      '….properties[list].items.x-kubernetes-validations[0].rule',
      '….properties[list].x-kubernetes-validations[0].rule',
      '….x-kubernetes-validations[0].rule',
      '….properties[list].x-kubernetes-validations[0].rule',
      '….properties[list].items.x-kubernetes-validations[0].rule',
      'spec.validation.openAPIV3Schema',
    ])
  })

  test('is refused when a default breaks them', async () => {
    const refused = await post(
      crds,
      definition({
        type: 'object',
        properties: { size: { type: 'integer', default: 1, 'x-kubernetes-validations': [{ rule: 'self > 1' }] } },
      }),
    )
    expect(refused.json['message']).toBe(
      'CustomResourceDefinition.apiextensions.k8s.io "valves.demo.example.com" is invalid: ' +
        'spec.validation.openAPIV3Schema.properties[spec].properties[size].default: Invalid value: 1: failed rule: self > 1',
    )
  })
})
