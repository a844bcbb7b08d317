/** Which metadata is certain once a server has stored an object. These tests speak at compile time. */
import { expectTypeOf, test } from 'vitest'
import type { KubeObject, ObjectList, ObjectMeta, Stored, UnstructuredObject } from './object.ts'

interface Website extends KubeObject {
  readonly spec: { readonly image: string }
  readonly status?: { readonly ready: boolean }
}

test('Stored makes name, uid, resourceVersion and creationTimestamp certain', () => {
  expectTypeOf<ObjectMeta['uid']>().toEqualTypeOf<string | undefined>()
  type Meta = Stored<KubeObject>['metadata']
  expectTypeOf<[Meta['name'], Meta['uid'], Meta['resourceVersion'], Meta['creationTimestamp']]>().toEqualTypeOf<
    [string, string, string, string]
  >()
  expectTypeOf<Meta['namespace']>().toEqualTypeOf<string | undefined>()
})

test('Stored makes generation certain for objects with a spec only', () => {
  expectTypeOf<Stored<Website>['metadata']['generation']>().toEqualTypeOf<number>()
  expectTypeOf<Stored<KubeObject>['metadata']['generation']>().toEqualTypeOf<number | undefined>()
})

test('Stored keeps the rest and fits wherever the object fits', () => {
  expectTypeOf<Stored<Website>['spec']['image']>().toEqualTypeOf<string>()
  expectTypeOf<Stored<Website>>().toExtend<Website>()
  expectTypeOf<Website>().not.toExtend<Stored<Website>>()
  expectTypeOf<UnstructuredObject>().toExtend<KubeObject>()
  expectTypeOf<ObjectList<Website>['items'][number]>().toEqualTypeOf<Website>()
})
