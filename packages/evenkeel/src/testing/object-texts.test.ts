import { expect, test, vi } from 'vitest'
import type { UnstructuredObject } from '#api'
import { ObjectTexts } from './snapshot.ts'

const object: UnstructuredObject = Object.freeze({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', uid: '1' },
})

test('what does not depend on names is made once for each object', () => {
  const make = vi.fn(({ metadata }: UnstructuredObject) => metadata.name ?? '')
  const texts = new ObjectTexts(make)
  expect([
    texts.of(object, { nameOf: () => 'x' }),
    texts.of(object, { nameOf: () => 'y' }),
    texts.of({ ...object, metadata: { name: 'b' } }, { nameOf: () => 'x' }),
  ]).toEqual(['"a"', '"a"', '"b"'])
  expect(make).toHaveBeenCalledTimes(2)
})

test('what depends on the names of another world is made again', () => {
  const texts = new ObjectTexts(({ metadata: { uid = '' } }, naming) => naming.nameOf(uid) ?? 'nobody')
  expect([
    texts.of(object, { nameOf: () => 'x' }),
    texts.of(object, { nameOf: () => 'y' }),
    texts.of(object, { nameOf: () => undefined }),
  ]).toEqual(['"x"', '"y"', '"nobody"'])
})
