/**
 * Strategic merge patch: keyed lists, and the directives that control the merge.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { sample } from '../../samples.ts'
import { patchTypes } from '../../target.ts'
import type { Place, ServerCase } from '../../target.ts'

interface Container {
  readonly name: string
  readonly image: string
  readonly env?: readonly { readonly name: string; readonly value?: string }[]
}

const { strategic: type } = patchTypes

/** A Deployment with the containers a, b and c, and the environment X and Y in the first. */
async function three(place: Place): Promise<void> {
  const containers = ['a', 'b', 'c'].map((name) => ({
    name,
    image: `${name}:1`,
    ...(name === 'a' && {
      env: [
        { name: 'X', value: '1' },
        { name: 'Y', value: '2' },
      ],
      args: ['one', 'two'],
    }),
  }))
  ok(await place.post('deployments', sample('deployments', 'd', { spec: { template: { spec: { containers } } } })), 201)
}

/** Patches the pod spec and returns the containers as `name=image`. */
async function patched(place: Place, spec: object): Promise<string[]> {
  return (await containersAfter(place, spec)).map(({ name, image }) => `${name}=${image}`)
}

async function containersAfter(place: Place, spec: object): Promise<readonly Container[]> {
  const answer = await place.patch('deployments', 'd', { body: { spec: { template: { spec } } }, type })
  const { template } = ok(answer, 200).spec as unknown as { template: { spec: { containers: readonly Container[] } } }
  return template.spec.containers
}

/** A patch that cannot be applied; the case does not check the error code. */
async function refused(place: Place, spec: object, message: RegExp): Promise<void> {
  const answer = await place.patch('deployments', 'd', { body: { spec }, type })
  assert.ok(answer.status >= 400, String(answer))
  expectMatch(answer.json, { kind: 'Status', message })
}

const byKey: readonly ServerCase[] = [
  {
    id: 'server/strategic/by-name',
    rule: 'A container is matched by name; the other containers and the order are kept.',
    async run(place) {
      await three(place)
      assert.deepEqual(await patched(place, { containers: [{ name: 'b', image: 'b:2' }] }), ['a=a:1', 'b=b:2', 'c=c:1'])
    },
  },
  {
    id: 'server/strategic/adds',
    rule: 'A container with a new name is inserted before the existing ones.',
    async run(place) {
      await three(place)
      assert.deepEqual(await patched(place, { containers: [{ name: 'd', image: 'd:1' }] }), [
        'd=d:1',
        'a=a:1',
        'b=b:1',
        'c=c:1',
      ])
    },
  },
  {
    id: 'server/strategic/nested',
    rule: 'A keyed list inside a keyed list is merged too; a list without keys is replaced.',
    async run(place) {
      await three(place)
      const [first] = await containersAfter(place, {
        containers: [{ name: 'a', env: [{ name: 'Y', value: '9' }], args: ['three'] }],
      })
      expectMatch(first, {
        env: [
          { name: 'X', value: '1' },
          { name: 'Y', value: '9' },
        ],
        args: ['three'],
      })
    },
  },
  {
    id: 'server/strategic/null-removes',
    rule: 'A null removes a field, as in a merge patch.',
    async run(place) {
      await three(place)
      const [first] = await containersAfter(place, { containers: [{ name: 'a', env: null }] })
      expectMatch(first, { name: 'a', env: undefined, args: ['one', 'two'] })
    },
  },
  {
    id: 'server/strategic/needs-key',
    rule: 'An item without the merge key of its list is rejected.',
    async run(place) {
      await three(place)
      await refused(
        place,
        { template: { spec: { containers: [{ image: 'x' }] } } },
        /does not contain declared merge key: name/,
      )
    },
  },
  {
    id: 'server/strategic/ports-by-number',
    rule: 'Service ports are matched by port number.',
    async run(place) {
      ok(
        await place.post(
          'services',
          sample('services', 's', {
            spec: {
              ports: [
                { name: 'a', port: 80 },
                { name: 'b', port: 81 },
              ],
            },
          }),
        ),
      )
      const next = ok(
        await place.patch('services', 's', { body: { spec: { ports: [{ port: 81, targetPort: 8081 }] } }, type }),
      )
      expectMatch(next.spec, {
        ports: [
          { name: 'a', port: 80, targetPort: 80 },
          { name: 'b', port: 81, targetPort: 8081 },
        ],
      })
    },
  },
  {
    id: 'server/strategic/finalizers-union',
    rule: 'Finalizers are a set: a patch adds to it, and the order of the patch comes first.',
    async run(place) {
      ok(await place.post('configmaps', sample('configmaps', 'a', { metadata: { finalizers: ['example.com/a'] } })))
      const next = ok(
        await place.patch('configmaps', 'a', {
          body: { metadata: { finalizers: ['example.com/b', 'example.com/a'] } },
          type,
        }),
      )
      assert.deepEqual(next.metadata.finalizers, ['example.com/b', 'example.com/a'])
    },
  },
  {
    id: 'server/strategic/owners-by-uid',
    rule: 'Owner references are matched by uid.',
    async run(place) {
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' }
      ok(
        await place.post(
          'configmaps',
          sample('configmaps', 'a', { metadata: { ownerReferences: [owner, { ...owner, uid: 'v' }] } }),
        ),
      )
      const next = ok(
        await place.patch('configmaps', 'a', {
          body: { metadata: { ownerReferences: [{ $patch: 'delete', uid: 'u' }] } },
          type,
        }),
      )
      expectMatch(next.metadata, { ownerReferences: [{ uid: 'v' }] })
    },
  },
]

const directives: readonly ServerCase[] = [
  {
    id: 'server/strategic/delete-element',
    rule: '`$patch: delete` removes the item with that key.',
    async run(place) {
      await three(place)
      assert.deepEqual(await patched(place, { containers: [{ name: 'b', $patch: 'delete' }] }), ['a=a:1', 'c=c:1'])
    },
  },
  {
    id: 'server/strategic/replace-list',
    rule: '`$patch: replace` as a list item replaces the whole list.',
    async run(place) {
      await three(place)
      assert.deepEqual(await patched(place, { containers: [{ name: 'z', image: 'z:1' }, { $patch: 'replace' }] }), [
        'z=z:1',
      ])
    },
  },
  {
    id: 'server/strategic/replace-object',
    rule: '`$patch: replace` in an object replaces the whole object.',
    async run(place) {
      ok(await place.post('configmaps', sample('configmaps', 'a', { data: { a: '1', b: '2' } })))
      const next = ok(await place.patch('configmaps', 'a', { body: { data: { $patch: 'replace', c: '3' } }, type }))
      assert.deepEqual(next.data, { c: '3' })
    },
  },
  {
    id: 'server/strategic/delete-object',
    rule: '`$patch: delete` in an object empties it.',
    async run(place) {
      ok(
        await place.post(
          'configmaps',
          sample('configmaps', 'a', { data: { a: '1' }, metadata: { labels: { l: '1' } } }),
        ),
      )
      const next = ok(await place.patch('configmaps', 'a', { body: { data: { $patch: 'delete' } }, type }))
      expectMatch(next, { data: undefined, metadata: { labels: { l: '1' } } })
    },
  },
  {
    id: 'server/strategic/order',
    rule: '`$setElementOrder` sorts the items into the given order.',
    async run(place) {
      await three(place)
      assert.deepEqual(
        await patched(place, { '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }, { name: 'b' }] }),
        ['c=c:1', 'a=a:1', 'b=b:1'],
      )
      assert.deepEqual(
        await patched(place, {
          '$setElementOrder/containers': [{ name: 'b' }, { name: 'd' }, { name: 'c' }, { name: 'a' }],
          containers: [{ name: 'd', image: 'd:1' }],
        }),
        ['b=b:1', 'd=d:1', 'c=c:1', 'a=a:1'],
      )
    },
  },
  {
    id: 'server/strategic/order-misses-element',
    rule: 'A patch item that `$setElementOrder` does not list is rejected.',
    async run(place) {
      await three(place)
      await refused(
        place,
        {
          template: {
            spec: { '$setElementOrder/containers': [{ name: 'a' }], containers: [{ name: 'd', image: 'd:1' }] },
          },
        },
        /\$setElementOrder/,
      )
    },
  },
  {
    id: 'server/strategic/delete-primitive',
    rule: '`$deleteFromPrimitiveList` removes values from a set of primitives.',
    async run(place) {
      ok(
        await place.post(
          'configmaps',
          sample('configmaps', 'a', { metadata: { finalizers: ['example.com/a', 'example.com/b', 'example.com/c'] } }),
        ),
      )
      const next = ok(
        await place.patch('configmaps', 'a', {
          body: { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/b'] } },
          type,
        }),
      )
      assert.deepEqual(next.metadata.finalizers, ['example.com/a', 'example.com/c'])
    },
  },
  {
    id: 'server/strategic/retain-keys',
    rule: '`$retainKeys` drops the fields that it does not list.',
    async run(place) {
      ok(
        await place.post(
          'deployments',
          sample('deployments', 'd', { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3 } } } }),
        ),
      )
      const next = ok(
        await place.patch('deployments', 'd', {
          body: { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
          type,
        }),
      )
      assert.deepEqual(next.spec['strategy'], { type: 'Recreate' })
    },
  },
  {
    id: 'server/strategic/retain-keys-misses-field',
    rule: '`$retainKeys` must list every field of the patch.',
    async run(place) {
      await three(place)
      expectStatus(
        await place.patch('deployments', 'd', {
          body: { spec: { strategy: { $retainKeys: ['rollingUpdate'], type: 'Recreate' } } },
          type,
        }),
        { code: 400, reason: 'BadRequest', message: 'invalid patch format of retainKeys' },
      )
    },
  },
  {
    id: 'server/strategic/unknown-directive',
    rule: 'An unknown `$patch` directive is rejected.',
    async run(place) {
      await three(place)
      await refused(place, { template: { spec: { containers: [{ name: 'a', $patch: 'explode' }] } } }, /explode/)
      assert.deepEqual(await patched(place, {}), ['a=a:1', 'b=b:1', 'c=c:1'])
    },
  },
]

export const strategicCases: readonly ServerCase[] = [...byKey, ...directives]
