import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '@evenkeel/cel/primitives'
import { fieldError, FieldPath, formatFieldError } from '../errors/field-error.ts'
import { validateCrd } from './crd.ts'
import { defaultFields } from './default-fields.fixture.ts'
import { fields } from './fields.fixture.ts'
import { roots } from './roots.fixture.ts'
import { checkVersionSchema, type SchemaChecks } from './version-schema.ts'

const checks: SchemaChecks = {
  matches: (pattern, text) => new RegExp(pattern, 'u').test(text),
}

function complaints(schema: JsonObject, more: JsonObject = {}, options: SchemaChecks = checks): string[] {
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more }]
  const names = { plural: 'shapes', singular: 'shape', kind: 'Shape', listKind: 'ShapeList' }
  const definition = {
    metadata: { name: 'shapes.a.b' },
    spec: { group: 'a.b', scope: 'Namespaced', names, versions },
    status: { storedVersions: ['v1'] },
  }
  return [
    ...new Set(validateCrd(definition, options).map((error) => formatFieldError(error).split(' (e.g.', 1).join(''))),
  ].sort()
}

function ofField(field: JsonValue): JsonObject {
  return { type: 'object', properties: { spec: { type: 'object', properties: { f: field } } } }
}

const path = 'spec.validation.openAPIV3Schema'

describe('checkVersionSchema', () => {
  test.each([...fields, ...defaultFields].map((one) => ({ ...one, text: JSON.stringify(one.field) })))(
    'judges the field $text',
    ({ field, errors }) => {
      expect(
        complaints(ofField(field)).map((text) => text.replaceAll(`${path}.properties[spec].properties[f]`, 'f')),
      ).toEqual(errors)
    },
  )

  test.each(roots.map((one) => ({ ...one, text: JSON.stringify({ ...one.schema, ...one.more }) })))(
    'judges the object $text',
    ({ schema, more, errors }) => {
      const texts = complaints(schema, more).map((text) =>
        text.replace(/^(\S*openAPIV3Schema: Invalid value: ).*(: only \[)/s, '$1…$2').replaceAll(path, 'root'),
      )
      expect(texts).toEqual(errors)
    },
  )

  test('a set may contain lists, which are atomic unless they say otherwise', () => {
    const items = { type: 'array', items: { type: 'string' } }
    expect(complaints(ofField({ type: 'array', items, 'x-kubernetes-list-type': 'set' }))).toEqual([])
  })

  test('asks for patterns, and has expressions checked where nothing else is wrong', () => {
    const asked: boolean[] = []
    const options: SchemaChecks = {
      ...checks,
      checkPattern: (pattern) => (pattern === '(' ? 'missing )' : undefined),
      expressions: {
        check: (schema, { path: at, isSound }) => {
          asked.push(isSound(schema), isSound(schema.properties?.['spec'] ?? {}))
          return [fieldError.invalid(at, '', 'no')]
        },
        startDefaults: () => () => [],
      },
    }
    expect(complaints(ofField({ type: 'string', pattern: '(' }), {}, options)).toEqual([
      `${path}.properties[spec].properties[f].pattern: Invalid value: "(": must be a valid regular expression, but isn't: missing )`,
    ])
    expect(asked).toEqual([])
    expect(complaints(ofField({ type: 'string', pattern: 'a' }), {}, options)).toEqual([
      `${path}: Invalid value: "": no`,
    ])
    expect(asked).toEqual([true, true])
    expect(complaints({ ...ofField({ type: 'string' }), uniqueItems: true }, {}, options)).toHaveLength(2)
    expect(asked.slice(2)).toEqual([false, true])
  })

  test('holds defaults that are otherwise right to their rules', () => {
    const expressions = {
      check: () => [],
      startDefaults: () => (value: unknown, _: unknown, at: FieldPath) =>
        value === 'odd' ? [fieldError.invalid(at, value, 'broken')] : [],
    }
    expect(complaints(ofField({ type: 'string', default: 'odd' }), {}, { ...checks, expressions })).toEqual([
      `${path}.properties[spec].properties[f].default: Invalid value: "odd": broken`,
    ])
    expect(
      complaints(ofField({ type: 'string', default: 'odd', maxLength: 1 }), {}, { ...checks, expressions }).join(),
    ).not.toContain('broken')
  })

  test('refuses keywords of the wrong type, where the schema of definitions does not look', () => {
    const items = {
      type: 5,
      properties: [],
      required: [1],
      enum: {},
      minLength: 1.5,
      allOf: [1],
      nullable: 'yes',
    } as unknown as JsonObject
    const at = `${path}.properties[spec].properties[f].items`
    expect(
      complaints(ofField({ type: 'array', items }))
        .map((text) => text.split(': ', 2).join(': '))
        .sort(),
    ).toEqual(
      ['allOf', 'enum', 'minLength', 'nullable', 'properties', 'required', 'type'].map(
        (keyword) => `${at}.${keyword}: Invalid value`,
      ),
    )
  })

  test('refuses a schema nested without end', () => {
    let deep: JsonObject = { type: 'string' }
    for (let level = 0; level < 50_000; level++) deep = { type: 'array', items: deep }
    const { errors } = checkVersionSchema(deep, { path: FieldPath.of('s'), hasStatus: false, checks: {} })
    expect(errors.map(formatFieldError)).toEqual(['s: Invalid value: "": must not be nested deeper than 400 levels'])
  })

  test('judges fields that are called like something of Object', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"spec":{"type":"object","properties":{"__proto__":{},"constructor":{"type":"string","default":1}}}}}',
    ) as JsonObject
    expect(complaints(schema)).toEqual([
      `${path}.properties[spec].properties[__proto__].type: Required value: must not be empty for specified object fields`,
    ])
    expect(
      complaints(
        ofField({
          type: 'array',
          items: { type: 'object', properties: {} },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['constructor'],
        }),
      ),
    ).toEqual([
      `${path}.properties[spec].properties[f].x-kubernetes-list-map-keys: Invalid value: ["constructor"]: entries must all be names of item properties`,
    ])
  })
})

test('checkVersionSchema refuses a set of lists that are not atomic', () => {
  const items = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }
  expect(complaints(ofField({ type: 'array', items, 'x-kubernetes-list-type': 'set' })).join()).toContain(
    'x-kubernetes-list-type: Invalid value: "set": must be atomic as item of a list with x-kubernetes-list-type=set',
  )
})
