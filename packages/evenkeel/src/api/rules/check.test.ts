import { describe, expect, test } from 'vitest'
import type { JsonObject } from '@evenkeel/cel/primitives'
import { validateCrd } from '../crd/crd.ts'
import { FieldPath, formatFieldError } from '../errors/field-error.ts'
import type { SchemaNode } from '../schema/schema.ts'
import { definitionCases } from './crds.fixture.ts'
import { ruleEngine } from './evaluate.ts'

function definition(spec: SchemaNode, ...more: JsonObject[]): JsonObject {
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: spec as JsonObject } } },
  }
  return {
    metadata: { name: 'foos.g.io' },
    spec: {
      group: 'g.io',
      scope: 'Namespaced',
      names: { plural: 'foos', singular: 'foo', kind: 'Foo', listKind: 'FooList' },
      versions: [version, ...more],
      conversion: { strategy: 'None' },
    },
    status: { storedVersions: ['v1'] },
  }
}

/** The complaints, without what is the same in all of them. */
function complaints(object: JsonObject, old?: JsonObject): string[] {
  return validateCrd(object, { expressions: ruleEngine, ...(old && { old }) }).map((error) =>
    formatFieldError(error)
      .replaceAll('spec.validation.openAPIV3Schema.properties[spec]', '…')
      .replaceAll('spec.validation.openAPIV3Schema', 'root')
      .replaceAll(
        ' (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
        ' (…)',
      )
      .replace(/\{"Rule":.*?"OptionalOldSelf":[a-z]+\}/s, '{…}'),
  )
}

describe('rules of definitions', () => {
  test.each(definitionCases)('judge $name', ({ spec, errors = [] }) => {
    expect(complaints(definition(spec)).sort()).toEqual([...errors].sort())
  })

  test('are shown whole where they are wrong', () => {
    const [error] = ruleEngine.check(
      { type: 'object', 'x-kubernetes-validations': [{ rule: '1', message: '<m>' }] },
      { path: FieldPath.of('s'), isSound: () => true, isUnchanged: false },
    )
    expect(error && formatFieldError(error)).toBe(
      's.x-kubernetes-validations[0].rule: Invalid value: ' +
        '{"Rule":"1","Message":"\\u003cm\\u003e","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: cel expression must evaluate to a bool',
    )
  })

  const dear: SchemaNode = {
    type: 'array',
    items: { type: 'string', maxLength: 5 },
    maxItems: 2000,
    'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x == y))' }],
  }

  test('that were as expensive before are not refused for it, unless all together are', () => {
    expect(complaints(definition(dear))).toHaveLength(1)
    expect(complaints(definition(dear), definition(dear))).toEqual([])
    expect(complaints(definition({ ...dear, description: 'changed' }), definition(dear))).toHaveLength(1)
    const all = { ...dear, maxItems: 20_000 }
    expect(complaints(definition(all), definition(all)).map((text) => text.split(': ', 1).join())).toEqual([
      '….x-kubernetes-validations[0].rule',
      'root',
    ])
  })

  test('may cost as much as the limit of a definition, and no more', () => {
    const list: SchemaNode = {
      type: 'array',
      maxItems: 10_000_000,
      items: { type: 'boolean', 'x-kubernetes-validations': [{ rule: 'self' }] },
    }
    const lists = (count: number): SchemaNode => ({
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`l${index}`, list])),
    })
    expect(complaints(definition(lists(10)))).toEqual([])
    expect(complaints(definition(lists(11))).at(-1)).toBe(
      'root: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.100000x (…)',
    )
  })

  test('are judged by the version of the same name', () => {
    const other = {
      name: 'v2',
      served: true,
      storage: false,
      schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'integer' } } } },
    }
    expect(complaints(definition(dear, other), definition(dear))).toEqual([])
    expect(
      complaints(
        definition(
          { type: 'integer' },
          { ...other, schema: { openAPIV3Schema: { type: 'object', properties: { spec: dear as JsonObject } } } },
        ),
        definition(dear),
      ),
    ).toHaveLength(1)
  })
})
