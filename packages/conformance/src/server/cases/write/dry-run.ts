/**
 * dryRun=All: a request runs completely, but nothing is stored.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { configMap } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'

const all = { dryRun: 'All' }

export const dryRunCases: readonly ServerCase[] = [
  {
    id: 'server/dry-run/create',
    rule: 'A dry-run create returns 201 with a uid and stores nothing.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a'), { query: all }), 201)
      expectMatch(made.metadata, { name: 'a', uid: /./, creationTimestamp: /./, resourceVersion: undefined })
      expectStatus(await place.get('configmaps', 'a'), { code: 404 })
    },
  },
  {
    id: 'server/dry-run/create-refusals',
    rule: 'A dry run is rejected for the same reasons: existing objects and invalid objects.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectStatus(await place.post('configmaps', configMap('a'), { query: all }), {
        code: 409,
        reason: 'AlreadyExists',
      })
      expectStatus(await place.post('configmaps', configMap('B'), { query: all }), { code: 422, reason: 'Invalid' })
    },
  },
  {
    id: 'server/dry-run/update',
    rule: 'A dry-run replace returns the object that would be stored and changes nothing.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a', { data: { k: '1' } })))
      const answered = ok(await place.put('configmaps', 'a', { body: { ...made, data: { k: '2' } }, query: all }), 200)
      expectMatch(answered, { data: { k: '2' }, metadata: { resourceVersion: made.metadata.resourceVersion } })
      assert.deepEqual(ok(await place.get('configmaps', 'a')), made)
    },
  },
  {
    id: 'server/dry-run/update-conflict',
    rule: 'A dry-run replace compares the resourceVersion like a real one.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a')))
      ok(await place.patch('configmaps', 'a', { body: { data: { k: '1' } } }))
      expectStatus(await place.put('configmaps', 'a', { body: made, query: all }), { code: 409, reason: 'Conflict' })
    },
  },
  {
    id: 'server/dry-run/patch',
    rule: 'A dry-run patch changes nothing.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a')))
      expectMatch(ok(await place.patch('configmaps', 'a', { body: { data: { k: '2' } }, query: all }), 200).data, {
        k: '2',
      })
      assert.deepEqual(ok(await place.get('configmaps', 'a')), made)
    },
  },
  {
    id: 'server/dry-run/delete',
    rule: 'A dry-run delete, requested by query or body, keeps the object and writes no finalizer.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a')))
      ok(await place.delete('configmaps', 'a', { query: all }), 200)
      ok(
        await place.delete('configmaps', 'a', {
          body: { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'], propagationPolicy: 'Foreground' },
        }),
        200,
      )
      assert.deepEqual(ok(await place.get('configmaps', 'a')), made)
    },
  },
  {
    id: 'server/dry-run/delete-with-finalizer',
    rule: 'A dry-run delete of an object with a finalizer does not make it terminating.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { metadata: { finalizers: ['example.com/judge'] } })))
      ok(await place.delete('configmaps', 'a', { query: all }), 200)
      expectMatch(ok(await place.get('configmaps', 'a')).metadata, { deletionTimestamp: undefined })
    },
  },
  {
    id: 'server/dry-run/delete-collection',
    rule: 'A dry-run delete of a collection returns the list and deletes nothing.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { metadata: { labels: { l: '1' } } })))
      expectMatch(ok(await place.delete('configmaps', undefined, { query: { ...all, labelSelector: 'l=1' } }), 200), {
        items: [{ metadata: { name: 'a' } }],
      })
      ok(await place.get('configmaps', 'a'), 200)
    },
  },
  {
    id: 'server/dry-run/no-event',
    rule: 'A dry run sends no watch events.',
    async run(place) {
      const stream = await place.watch('configmaps')
      ok(await place.post('configmaps', configMap('a'), { query: all }))
      ok(await place.post('configmaps', configMap('b')))
      expectMatch(await stream.next(), { type: 'ADDED', object: { metadata: { name: 'b' } } })
    },
  },
  ...['POST', 'PUT', 'PATCH', 'DELETE'].map((method): ServerCase => ({
    id: `server/dry-run/bad-value-${method.toLowerCase()}`,
    rule: `All is the only dryRun value; ${method} with another value is rejected.`,
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      const kind =
        { POST: 'CreateOptions', PUT: 'UpdateOptions', PATCH: 'PatchOptions', DELETE: 'DeleteOptions' }[method] ?? ''
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
      const body = method === 'DELETE' ? undefined : configMap('a')
      const path = place.path('configmaps', method === 'POST' ? undefined : 'a')
      expectStatus(await place.client.request(method, path, { body, type, query: { dryRun: 'true' } }), {
        code: 422,
        reason: 'Invalid',
        message: `${kind}.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["true"]: supported values: "All"`,
        details: {
          group: 'meta.k8s.io',
          kind,
          causes: [
            {
              reason: 'FieldValueNotSupported',
              message: 'Unsupported value: ["true"]: supported values: "All"',
              field: 'dryRun',
            },
          ],
        },
      })
    },
  })),
]
