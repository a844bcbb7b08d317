/**
 * Deleting many objects at once.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, namesOf, ok } from '../../expect.ts'
import { configMap } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

/** The ConfigMaps a, b and c; a and b have the label. */
async function three(place: Place): Promise<void> {
  for (const name of ['a', 'b', 'c'])
    ok(await place.post('configmaps', configMap(name, name === 'c' ? {} : { metadata: { labels: { marked: 'yes' } } })))
}

/** Some servers create a ConfigMap in every namespace. */
async function left(place: Place): Promise<string[]> {
  return namesOf(ok(await place.list('configmaps'))).filter((name) => name.length === 1)
}

export const deleteCollectionCases: readonly ServerCase[] = [
  {
    id: 'server/delete-collection/selector',
    rule: 'Only objects that match the selector are deleted; the response lists them.',
    async run(place) {
      await three(place)
      const answer = ok(await place.delete('configmaps', undefined, { query: { labelSelector: 'marked' } }), 200)
      expectMatch(answer, { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: /^\d+$/ } })
      assert.deepEqual(namesOf(answer), ['a', 'b'])
      assert.deepEqual(await left(place), ['c'])
    },
  },
  {
    id: 'server/delete-collection/all',
    rule: 'Without a selector the whole collection of the namespace is deleted.',
    async run(place) {
      await three(place)
      ok(await place.delete('configmaps'), 200)
      assert.deepEqual(await left(place), [])
    },
  },
  {
    id: 'server/delete-collection/field-selector',
    rule: 'A field selector limits the deletion too.',
    async run(place) {
      await three(place)
      assert.deepEqual(
        namesOf(ok(await place.delete('configmaps', undefined, { query: { fieldSelector: 'metadata.name=b' } }), 200)),
        ['b'],
      )
      assert.deepEqual(await left(place), ['a', 'c'])
    },
  },
  {
    id: 'server/delete-collection/nothing',
    rule: 'A selector that matches nothing succeeds with an empty list.',
    async run(place) {
      assert.deepEqual(
        ok(await place.delete('configmaps', undefined, { query: { labelSelector: 'marked=never' } }), 200).items,
        [],
      )
    },
  },
  {
    id: 'server/delete-collection/finalizers',
    rule: 'Objects with finalizers become terminating.',
    async run(place) {
      await three(place)
      ok(await place.patch('configmaps', 'a', { body: { metadata: { finalizers: ['example.com/judge'] } } }))
      ok(await place.delete('configmaps', undefined, { query: { labelSelector: 'marked' } }), 200)
      assert.deepEqual(await left(place), ['a', 'c'])
      expectMatch(ok(await place.get('configmaps', 'a')).metadata, { deletionTimestamp: /Z$/ })
      ok(await place.patch('configmaps', 'a', { body: { metadata: { finalizers: null } } }))
    },
  },
  {
    id: 'server/delete-collection/policy',
    rule: 'Options from the body or the query apply to every object.',
    async run(place) {
      await three(place)
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Orphan' }
      expectMatch(
        ok(await place.delete('configmaps', undefined, { query: { labelSelector: 'marked' }, body }), 200).items.length,
        2,
      )
      for (const name of ['a', 'b'])
        ok(await place.patch('configmaps', name, { body: { metadata: { finalizers: null } } }))
    },
  },
  {
    id: 'server/delete-collection/events',
    rule: 'Every deleted object sends one DELETED event.',
    async run(place) {
      await three(place)
      const {
        metadata: { resourceVersion },
      } = ok(await place.list('configmaps'))
      const stream = await place.watch('configmaps', { resourceVersion, labelSelector: 'marked' })
      ok(await place.delete('configmaps', undefined, { query: { labelSelector: 'marked' } }))
      assert.deepEqual((await stream.take(2)).map(({ type, object }) => `${type} ${object.metadata.name}`).sort(), [
        'DELETED a',
        'DELETED b',
      ])
    },
  },
  {
    id: 'server/delete-collection/limit',
    rule: 'A limit bounds the number of deleted objects.',
    async run(place) {
      await three(place)
      ok(await place.delete('configmaps', undefined, { query: { labelSelector: 'marked', limit: 1 } }), 200)
      assert.deepEqual(await left(place), ['b', 'c'])
    },
  },
  {
    id: 'server/delete-collection/all-namespaces',
    rule: 'A collection of all namespaces cannot be deleted.',
    async run(place) {
      expectStatus(
        await place.client.request('DELETE', '/api/v1/configmaps', { query: { labelSelector: 'marked=never' } }),
        {
          code: 405,
          reason: 'MethodNotAllowed',
          message: 'the server does not allow this method on the requested resource',
        },
      )
    },
  },
]
