import { expect, test, vi } from 'vitest'
import type { UnstructuredObject } from '#api'
import { ObjectTexts } from './snapshot.ts'

const object: UnstructuredObject = Object.freeze({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', uid: '1' },
})

test('a text without names of uids is made once per object', () => {
  const make = vi.fn(({ metadata }: UnstructuredObject) => metadata.name ?? '')
  const texts = new ObjectTexts(make)
  expect([
    texts.of(object, { nameOf: () => 'x' }),
    texts.of(object, { nameOf: () => 'y' }),
    texts.of({ ...object, metadata: { name: 'b' } }, { nameOf: () => 'x' }),
  ]).toEqual(['"a"', '"a"', '"b"'])
  expect(make).toHaveBeenCalledTimes(2)
})

test('a text with names of uids is made again for another world', () => {
  const texts = new ObjectTexts(({ metadata: { uid = '' } }, naming) => naming.nameOf(uid) ?? 'nobody')
  expect([
    texts.of(object, { nameOf: () => 'x' }),
    texts.of(object, { nameOf: () => 'y' }),
    texts.of(object, { nameOf: () => undefined }),
  ]).toEqual(['"x"', '"y"', '"nobody"'])
})
