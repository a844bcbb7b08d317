import assert from 'node:assert/strict'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '@evenkeel/cel/primitives'
import { annotationBytesMax } from '../metadata.ts'
import { apply, force, run, update, type Outcome } from './apply-sequences.fixture.ts'
import { syncLastApplied } from './client-side-apply.ts'

const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
const lastApplied = (content: JsonObject, more: JsonObject = {}): JsonObject => ({
  annotations: {
    [annotation]: JSON.stringify({
      apiVersion: 'example.io/v1',
      kind: 'Garden',
      metadata: { name: 'g' },
      ...content,
      ...more,
    }),
  },
})
const annotationOf = ({ object }: Outcome): unknown =>
  ((object['metadata'] as JsonObject)['annotations'] as JsonObject)[annotation]

describe('the manager kubectl and its annotation', () => {
  const clientSide = (content: JsonObject): ReturnType<typeof update> =>
    update('kubectl-client-side-apply', { ...content, metadata: lastApplied(content) })

  test('takes over without conflict what the annotation says and the object has', () => {
    const { content, owners, refusal } = run([clientSide({ size: 1 }), apply('kubectl', { size: 2 })])
    assert.equal(refusal, undefined)
    assert.deepEqual(content, { size: 2 })
    assert.deepEqual(owners['kubectl'], ['.size'])
  })

  test('conflicts on what somebody changed since', () => {
    const steps = [
      clientSide({ size: 1, name: 'n' }),
      update('m', { size: 3, name: 'n', metadata: lastApplied({ size: 1, name: 'n' }) }),
      apply('kubectl', { size: 2, name: 'o' }),
    ]
    assert.equal(run(steps).refusal, 'Apply failed with 1 conflict: conflict with "m" using example.io/v1: .size')
  })

  const useless: [name: string, metadata: JsonObject][] = [
    ['there is none', {}],
    ['it is empty', { annotations: { [annotation]: '' } }],
    ['it is no JSON', { annotations: { [annotation]: '{' } }],
    ['it is no object', { annotations: { [annotation]: '[1]' } }],
    ['it is of another version', lastApplied({ size: 1 }, { apiVersion: 'example.io/v9' })],
    ['it does not fit the schema', lastApplied({ size: 1 }, { weather: 1 })],
  ]
  test.each(useless)('conflicts as anybody when %s', (_, metadata) => {
    assert.match(
      run([update('m', { size: 1, metadata }), apply('kubectl', { size: 2 })]).refusal ?? '',
      /1 conflict: conflict with "m"/,
    )
  })

  test('other managers do not look at it', () => {
    assert.match(run([clientSide({ size: 1 }), apply('helm', { size: 2 })]).refusal ?? '', /1 conflict/)
  })

  test('keeps the annotation up to date, as kubectl would have written it', () => {
    const outcome = run([clientSide({ size: 1 }), apply('kubectl', { size: 2, notes: { b: '<&>', a: '1' } })])
    assert.equal(
      annotationOf(outcome),
      '{"apiVersion":"example.io/v1","kind":"Garden","metadata":{"name":"g"},"notes":{"a":"1","b":"\\u003c\\u0026\\u003e"},"size":2}\n',
    )
  })

  test('leaves itself out of what it says', () => {
    const outcome = run([
      clientSide({ size: 1 }),
      force('kubectl', { size: 1, metadata: { annotations: { k: 'v', [annotation]: 'mine' } } }),
    ])
    assert.equal(
      annotationOf(outcome),
      '{"apiVersion":"example.io/v1","kind":"Garden","metadata":{"annotations":{"k":"v"},"name":"g"},"size":1}\n',
    )
  })

  test('writes none where there is none, and none that is too long', () => {
    assert.equal(
      (run([apply('kubectl', { size: 1, metadata: { annotations: { k: 'v' } } })]).object['metadata'] as JsonObject)[
        'annotations'
      ]?.constructor,
      Object,
    )
    assert.equal(annotationOf(run([apply('kubectl', { size: 1, metadata: { annotations: { k: 'v' } } })])), undefined)
    const outcome = run([clientSide({ size: 1 }), apply('kubectl', { notes: { long: 'x'.repeat(260 * 1024) } })])
    assert.equal(annotationOf(outcome), undefined)
  })
})

test('syncLastApplied keeps an annotation of exactly the largest size, and drops a larger one', () => {
  const name = annotation
  const sync = (length: number): JsonObject =>
    syncLastApplied({ metadata: { annotations: { [name]: 'old' } } }, { data: 'x'.repeat(length) })
  const largest = annotationBytesMax - name.length - '{"data":""}\n'.length
  const annotationsOf = (object: JsonObject): JsonObject =>
    (object['metadata'] as JsonObject)['annotations'] as JsonObject
  expect(Object.keys(annotationsOf(sync(largest)))).toEqual([name])
  expect(annotationsOf(sync(largest + 1))).toEqual({})
})
