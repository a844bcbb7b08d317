import { expect, test } from 'vitest'
import { Informer } from '../informers.ts'
import { NamespaceIndex } from './namespace-index.ts'

const bytes = (namespace: string, name: string): Uint8Array =>
  Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name, namespace } }))

test('NamespaceIndex knows the objects of each namespace, also those that came before it, and forgets those that went', () => {
  const view = new Informer('', 'resourcequotas')
  view.put(bytes('a', 'z'), 1)
  const index = new NamespaceIndex(view)
  view.put(bytes('a', 'q'), 2)
  view.put(bytes('b', 'q'), 3)
  expect(index.in('a').map(({ metadata }) => metadata.name)).toEqual(['q', 'z'])
  view.remove({ namespace: 'b', name: 'q' })
  expect([index.has('a'), index.has('b'), index.has('c')]).toEqual([true, false, false])
  view.replace([{ value: bytes('c', 'q'), revision: 4 }])
  expect([index.has('a'), index.has('c')]).toEqual([false, true])
})
