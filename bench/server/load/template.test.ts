import { describe, expect, test } from 'vitest'
import { collectionPath, objectBytes, objectText } from '../objects.ts'
import { RequestTemplate, requestText, slots } from './template.ts'

const address = { url: 'https://127.0.0.1:6443', token: 'secret' }

function bodyOf({ bytes }: RequestTemplate): unknown {
  const text = bytes.toString('latin1')
  return JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))
}

describe('RequestTemplate', () => {
  test('writes a number in all its slots, at the same length', () => {
    const text = requestText(address, {
      method: 'PUT',
      path: `/objects/run-${slots.number}`,
      body: objectText('configmap', { object: `run-${slots.number}`, counter: slots.counter }),
    })
    const template = new RequestTemplate(text)
    template.setNumber('number', 42)
    template.setNumber('counter', 7)
    expect(template.bytes.length).toBe(text.length)
    expect(template.bytes.toString('latin1')).toMatch(
      /^PUT \/objects\/run-0000000042 HTTP\/1\.1\r\nHost: 127\.0\.0\.1:6443\r\n/,
    )
    expect(bodyOf(template)).toMatchObject({ metadata: { name: 'run-0000000042' }, data: { counter: '0000000007' } })
  })

  test('writes a shorter version over a longer one and stays valid JSON', () => {
    const template = new RequestTemplate(
      requestText(address, {
        method: 'PUT',
        path: '/',
        body: objectText('custom', { object: 'a', counter: '0', version: slots.version }),
      }),
    )
    template.setVersion('18446744073709551615')
    expect(bodyOf(template)).toMatchObject({ metadata: { resourceVersion: '18446744073709551615' } })
    template.setVersion('9')
    expect(bodyOf(template)).toMatchObject({ metadata: { resourceVersion: '9' } })
  })

  test('rejects a value that does not fit', () => {
    const template = new RequestTemplate(slots.number)
    expect(() => {
      template.setNumber('number', 1e11)
    }).toThrow(RangeError)
  })
})

describe('requestText', () => {
  test('sends the length of a body, and no length without one', () => {
    expect(requestText(address, { method: 'POST', path: '/', body: '{"a":1}' })).toContain(
      'Content-Length: 7\r\n\r\n{"a":1}',
    )
    expect(requestText(address, { method: 'GET', path: '/' })).not.toContain('Content-')
  })
})

describe('objectText', () => {
  test.each(['configmap', 'custom'] as const)('makes a %s of 1 KiB', (kind) => {
    const text = objectText(kind, { object: 'name-0000000001', counter: '0000000000' })
    expect(text).toHaveLength(objectBytes)
    expect(JSON.parse(text)).toMatchObject({ metadata: { name: 'name-0000000001' } })
  })

  test('has one payload for each variant', () => {
    const texts = [0, 1, 2, 0].map((variant) => objectText('configmap', { object: 'a', counter: '0', variant }))
    expect(new Set(texts).size).toBe(3)
    expect(texts[3]).toBe(texts[0])
  })

  test('belongs to the collection of its kind', () => {
    expect(collectionPath('configmap', 'a')).toBe('/api/v1/namespaces/a/configmaps')
    expect(collectionPath('custom', 'a')).toBe('/apis/bench.evenkeel.dev/v1/namespaces/a/benchobjects')
  })
})
