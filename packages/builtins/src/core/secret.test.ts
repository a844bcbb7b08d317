import { expect, test } from 'vitest'
import type { JsonObject } from 'evenkeel/unstable/builtins'
import { write } from '../writes.fixture.ts'
import { cases } from './secret.fixture.ts'
import { secretStrategy } from './secret.ts'

for (const each of cases) {
  test(`secretRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}

test('secretRules fold stringData into data, over what is there, whatever the keys are called', () => {
  const text =
    '{ "apiVersion": "v1", "kind": "Secret", "metadata": {}, "data": { "a": "eA==" }, "stringData": { "a": "é", "__proto__": "p" } }'
  const { object } = write({ object: JSON.parse(text) as JsonObject })
  expect(object['type']).toBe('Opaque')
  expect(object['stringData']).toBeUndefined()
  expect(Object.entries(object['data'] as JsonObject)).toEqual([
    ['a', 'w6k='],
    ['__proto__', 'cA=='],
  ])
})

test('secretRules copy frozen data instead of changing it', () => {
  const data = Object.freeze({ a: 'eA==' })
  const draft = { apiVersion: 'v1', kind: 'Secret', metadata: {}, data, stringData: { b: 'y' } }
  secretStrategy.default?.(draft)
  expect(data).toEqual({ a: 'eA==' })
  expect(draft.data).toEqual({ a: 'eA==', b: 'eQ==' })
})

test('secretRules never repeat a value', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {},
    type: 'kubernetes.io/dockercfg',
    data: { '.dockercfg': 'bm9wZQ==', b: '!!' },
  }
  const text = write({ object }).errors.join()
  expect(text).toContain('<secret contents redacted>')
  expect(text).not.toContain('nope')
})
