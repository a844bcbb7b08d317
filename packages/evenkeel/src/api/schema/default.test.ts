import { describe, expect, test } from 'vitest'
import { deepFreeze, getOwn } from '../json.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import { applyDefaults } from './default.ts'
import type { Schema, SchemaNode } from './schema.ts'

const string = (standard?: string): SchemaNode => ({ type: 'string', ...standard !== undefined && { default: standard } })
const nodes: Record<string, SchemaNode> = { 'x.Port': { type: 'object', properties: { protocol: string('TCP'), number: { type: 'integer' } }, default: { number: 1 } } }
const root: SchemaNode = {
  type: 'object',
  properties: {
    size: { type: 'integer', default: 3 }, color: { ...string('red'), nullable: true }, plain: string(), free: { ...string(), nullable: true },
    spec: { type: 'object', properties: { mode: string('fast') } }, made: { type: 'object', default: {}, properties: { mode: string('fast') } },
    ports: { type: 'array', items: { $ref: 'x.Port' } }, words: { type: 'array', items: string() }, map: { type: 'object', additionalProperties: { $ref: 'x.Port' } },
  },
}
const schema: Schema = { root, definitions: (name) => nodes[name] }
const fill = (text: string): JsonValue => applyDefaults(deepFreeze(JSON.parse(text) as JsonValue), schema)
const always = { size: 3, color: 'red', made: { mode: 'fast' } }

describe('applyDefaults', () => {
  /** [what, value, value afterwards, apart from what is always filled in] */
  test.each<[string, string, JsonObject]>([
    ['fills in what is absent, and defaults into defaults', '{}', {}],
    ['keeps what is there', '{"size":1,"color":"blue","made":{"mode":"slow"}}', { size: 1, color: 'blue', made: { mode: 'slow' } }],
    ['makes no parents', '{"spec":{}}', { spec: { mode: 'fast' } }],
    ['takes null for absent, unless it is allowed', '{"size":null,"color":null,"plain":null,"free":null}', { color: null, free: null }],
    ['fills in items', '{"ports":[{"number":2},{"protocol":"UDP"},null],"words":[null,"a"]}', { ports: [{ number: 2, protocol: 'TCP' }, { protocol: 'UDP' }, { number: 1, protocol: 'TCP' }], words: [null, 'a'] }],
    ['fills in the values of maps', '{"map":{"a":{},"b":null}}', { map: { a: { protocol: 'TCP' }, b: { number: 1, protocol: 'TCP' } } }],
    ['leaves alone what has another type', '{"ports":"x","map":[1],"spec":1}', { ports: 'x', map: [1], spec: 1 }],
    ['leaves alone what it does not know', '{"other":{"size":null}}', { other: { size: null } }],
  ])('%s', (...[, before, after]) => {
    expect(fill(before)).toEqual({ ...always, ...after })
  })

  test('gives back what needs nothing, and never the default itself', () => {
    const whole = deepFreeze({ ...always, ports: [{ protocol: 'TCP' }] })
    expect(applyDefaults(whole, schema)).toBe(whole)
    const [first, second] = [fill('{"map":{"a":null}}'), fill('{"map":{"a":null}}')] as [JsonObject, JsonObject]
    expect(first['map']).not.toBe(second['map'])
    expect((first['map'] as JsonObject)['a']).not.toBe(nodes['x.Port']?.default)
  })

  test('keeps keys of Object.prototype', () => {
    const map = (fill('{"map":{"__proto__":{},"constructor":{}}}') as JsonObject)['map'] as JsonObject
    expect(getOwn(map, '__proto__')).toEqual({ protocol: 'TCP' })
    expect(getOwn(map, 'constructor')).toEqual({ protocol: 'TCP' })
    expect(Object.getPrototypeOf(map)).toBe(Object.prototype)
  })
})
