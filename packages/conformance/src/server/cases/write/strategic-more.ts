/**
 * More strategic merge patch: nested directives, primitive lists, the status, and combinations.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { configMap, sample } from '../../samples.ts'
import type { Fields } from '../../samples.ts'
import { patchTypes } from '../../target.ts'
import type { Place, ServerCase } from '../../target.ts'

const { strategic: type } = patchTypes

interface PodSpec {
  readonly containers: readonly Fields[]
  readonly volumes: readonly Fields[]
  readonly imagePullSecrets?: readonly Fields[]
}

/** A Deployment with one container and two volumes. */
async function one(place: Place): Promise<void> {
  const containers = [
    {
      name: 'a',
      image: 'a:1',
      env: [
        { name: 'X', value: '1' },
        { name: 'Y', value: '2' },
        { name: 'Z', value: '3' },
      ],
      ports: [{ containerPort: 80 }, { containerPort: 81 }],
    },
  ]
  const volumes = [
    { name: 'v', emptyDir: { medium: 'Memory' } },
    { name: 'w', emptyDir: {} },
  ]
  ok(
    await place.post(
      'deployments',
      sample('deployments', 'd', {
        spec: { template: { spec: { containers, volumes, imagePullSecrets: [{ name: 's' }] } } },
      }),
    ),
    201,
  )
}

async function patched(place: Place, spec: Fields): Promise<PodSpec> {
  const answer = await place.patch('deployments', 'd', { body: { spec: { template: { spec } } }, type })
  return (ok(answer, 200).spec as unknown as { template: { spec: PodSpec } }).template.spec
}

export const moreStrategicCases: readonly ServerCase[] = [
  {
    id: 'server/strategic/delete-deep-element',
    rule: '`$patch: delete` works in a list inside a merged item.',
    async run(place) {
      await one(place)
      const { containers } = await patched(place, {
        containers: [
          {
            name: 'a',
            env: [
              { name: 'Y', $patch: 'delete' },
              { name: 'N', value: '4' },
            ],
          },
        ],
      })
      assert.deepEqual(
        (containers[0]?.['env'] as readonly Fields[]).map(({ name }) => name),
        ['N', 'X', 'Z'],
      )
    },
  },
  {
    id: 'server/strategic/replace-deep-list',
    rule: '`$patch: replace` replaces a list inside an item.',
    async run(place) {
      await one(place)
      const { containers } = await patched(place, {
        containers: [{ name: 'a', env: [{ $patch: 'replace' }, { name: 'N', value: '4' }] }],
      })
      expectMatch(containers, [{ image: 'a:1', env: [{ name: 'N', value: '4' }] }])
    },
  },
  {
    id: 'server/strategic/replace-element',
    rule: '`$patch: replace` in an item replaces the list with the items that do not carry the directive.',
    async run(place) {
      await one(place)
      const { volumes } = await patched(place, { volumes: [{ name: 'only', emptyDir: {} }, { $patch: 'replace' }] })
      assert.deepEqual(
        volumes.map(({ name }) => name),
        ['only'],
      )
    },
  },
  {
    id: 'server/strategic/merge-directive',
    rule: '`$patch: merge` is rejected: merging is the default.',
    async run(place) {
      await one(place)
      for (const template of [{ $patch: 'merge' }, { spec: { containers: [{ name: 'a', $patch: 'merge' }] } }]) {
        const answer = await place.patch('deployments', 'd', { body: { spec: { template } }, type })
        assert.ok(answer.status >= 400, String(answer))
        expectMatch(answer.json, {
          kind: 'Status',
          message: /unknown patch type: merge|merging lists cannot yet be specified in the patch/,
        })
      }
    },
  },
  {
    id: 'server/strategic/retain-keys-in-volume',
    rule: '`$retainKeys` in an item changes the type of a volume.',
    async run(place) {
      await one(place)
      const { volumes } = await patched(place, {
        volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'c' } }],
      })
      expectMatch(
        volumes.find(({ name }) => name === 'v'),
        { configMap: { name: 'c' }, emptyDir: undefined },
      )
    },
  },
  {
    id: 'server/strategic/order-of-values',
    rule: '`$setElementOrder` orders primitive values, combined with added and deleted values.',
    async run(place) {
      ok(
        await place.post(
          'configmaps',
          configMap('a', { metadata: { finalizers: ['example.com/a', 'example.com/b', 'example.com/c'] } }),
        ),
        201,
      )
      const body = {
        metadata: {
          '$deleteFromPrimitiveList/finalizers': ['example.com/b'],
          '$setElementOrder/finalizers': ['example.com/d', 'example.com/c', 'example.com/a'],
          finalizers: ['example.com/d'],
        },
      }
      const next = ok(await place.patch('configmaps', 'a', { body, type }), 200)
      assert.deepEqual(next.metadata.finalizers, ['example.com/d', 'example.com/c', 'example.com/a'])
      ok(await place.patch('configmaps', 'a', { body: { metadata: { finalizers: null } } }))
    },
  },
  {
    id: 'server/strategic/ports-deleted',
    rule: 'A port is deleted by its number.',
    async run(place) {
      await one(place)
      const { containers } = await patched(place, {
        containers: [{ name: 'a', ports: [{ containerPort: 80, $patch: 'delete' }] }],
      })
      expectMatch(containers, [{ ports: [{ containerPort: 81 }] }])
    },
  },
  {
    id: 'server/strategic/status-conditions',
    rule: 'Conditions in the status are matched by type.',
    async run(place) {
      await one(place)
      const condition = (name: string, status = 'True'): Fields => ({ type: name, status })
      ok(
        await place.patch('deployments', 'd/status', {
          body: { status: { conditions: [condition('A'), condition('B')] } },
          type,
        }),
        200,
      )
      const next = ok(
        await place.patch('deployments', 'd/status', {
          body: { status: { conditions: [condition('A', 'False')] } },
          type,
        }),
        200,
      )
      expectMatch(next.status, {
        conditions: [
          { type: 'A', status: 'False' },
          { type: 'B', status: 'True' },
        ],
      })
    },
  },
  {
    id: 'server/strategic/empty-object',
    rule: 'An empty object or list in a patch changes nothing where the field is merged.',
    async run(place) {
      await one(place)
      const { containers, imagePullSecrets } = await patched(place, {
        containers: [],
        imagePullSecrets: [{ name: 't' }],
        nodeSelector: {},
      })
      assert.equal(containers.length, 1)
      assert.deepEqual(
        imagePullSecrets?.map(({ name }) => name),
        ['t', 's'],
      )
    },
  },
  {
    id: 'server/strategic/wrong-type',
    rule: 'A patch that puts a value of a wrong type is a 422 that names both types.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')), 201)
      for (const [body, printed, reason] of [
        [{ data: 'x' }, 'map[data:x]', 'cannot restore map from string'],
        [{ data: [1] }, 'map[data:[1]]', 'cannot restore map from slice'],
        [{ data: { a: true } }, 'map[data:map[a:true]]', 'unrecognized type: string'],
        [{ data: { a: 1 } }, 'map[data:map[a:1]]', 'cannot convert int64 to string'],
        [{ metadata: 'x' }, 'map[metadata:x]', 'cannot restore struct from: string'],
        [{ metadata: { finalizers: 'x' } }, 'map[metadata:map[finalizers:x]]', 'cannot restore slice from string'],
        [{ kind: 'ConfigMap', immutable: 'x' }, 'map[immutable:x kind:ConfigMap]', 'unrecognized type: bool'],
      ] as const) {
        const message = `Invalid value: "${printed}": ${reason}`
        expectStatus(await place.patch('configmaps', 'a', { body, type }), {
          code: 422,
          reason: 'Invalid',
          message: ` "" is invalid: patch: ${message}`,
          details: { causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }] },
        })
      }
    },
  },
]
