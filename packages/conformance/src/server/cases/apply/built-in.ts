/**
 * Server-side apply of built-in kinds, with their map lists, sets and atomic lists.
 */
import assert from 'node:assert/strict'
import type { Answer } from '../../answer.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { ownersOf } from '../../owners.ts'
import { sample } from '../../samples.ts'
import type { Fields, ResourceName } from '../../samples.ts'
import { applyType } from '../../target.ts'
import type { Place, ServerCase } from '../../target.ts'

interface By {
  readonly manager?: string
  readonly force?: boolean
  readonly part?: string
}

/** Applies an object named `a`: exactly these fields next to its name. */
function apply(
  place: Place,
  [resource, fields]: readonly [ResourceName, Fields],
  { manager = 'm', force, part }: By = {},
): Promise<Answer> {
  const { apiVersion, kind } = sample(resource, 'a')
  const body = { apiVersion, kind, metadata: { name: 'a' }, ...fields }
  return place.patch(resource, part === undefined ? 'a' : `a/${part}`, {
    type: applyType,
    body,
    query: { fieldManager: manager, ...(force === undefined ? {} : { force }) },
  })
}

interface Spec {
  readonly spec: { readonly containers: readonly Fields[]; readonly volumes?: readonly Fields[] }
}

const labels = { app: 'a' }
const workload = (...containers: readonly Fields[]): Fields => ({
  spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
})
/** Only the containers, for cases that need nothing else. */
const partly = (...containers: readonly Fields[]): Fields => ({ spec: { template: { spec: { containers } } } })

const containersOf = (answer: Answer): readonly Fields[] => (ok(answer).spec['template'] as Spec).spec.containers

export const builtInApplyCases: readonly ServerCase[] = [
  {
    id: 'server/apply-kinds/containers',
    rule: 'Containers are merged by name; every manager can add one.',
    async run(place) {
      ok(await apply(place, ['deployments', workload({ name: 'x', image: 'x:1' })]), 201)
      const both = containersOf(
        await apply(place, ['deployments', partly({ name: 'y', image: 'y:1' })], { manager: 'n' }),
      )
      assert.deepEqual(
        both.map(({ name }) => name),
        ['x', 'y'],
      )
      expectStatus(await apply(place, ['deployments', partly({ name: 'x', image: 'x:2' })], { manager: 'n' }), {
        code: 409,
        message: 'Apply failed with 1 conflict: conflict with "m": .spec.template.spec.containers[name="x"].image',
      })
    },
  },
  {
    id: 'server/apply-kinds/ports',
    rule: 'Container ports are merged by number and protocol, which defaults to TCP.',
    async run(place) {
      ok(
        await apply(place, [
          'deployments',
          workload({ name: 'x', image: 'x:1', ports: [{ containerPort: 80, name: 'web' }] }),
        ]),
        201,
      )
      const [first] = containersOf(
        await apply(
          place,
          ['deployments', partly({ name: 'x', ports: [{ containerPort: 80, protocol: 'UDP', name: 'quic' }] })],
          { manager: 'n' },
        ),
      )
      expectMatch(first, {
        ports: [
          { containerPort: 80, protocol: 'TCP', name: 'web' },
          { containerPort: 80, protocol: 'UDP', name: 'quic' },
        ],
      })
      expectStatus(
        await apply(
          place,
          ['deployments', partly({ name: 'x', ports: [{ containerPort: 80, protocol: 'TCP', name: 'other' }] })],
          { manager: 'o' },
        ),
        {
          code: 409,
          message: /\.spec\.template\.spec\.containers\[name="x"\]\.ports\[containerPort=80,protocol="TCP"\]\.name/,
        },
      )
    },
  },
  {
    id: 'server/apply-kinds/environment',
    rule: 'Environment variables are merged by name; arguments are atomic.',
    async run(place) {
      ok(
        await apply(place, [
          'deployments',
          workload({ name: 'x', image: 'x:1', env: [{ name: 'A', value: '1' }], args: ['one'] }),
        ]),
        201,
      )
      const [first] = containersOf(
        await apply(place, ['deployments', partly({ name: 'x', env: [{ name: 'B', value: '2' }] })], { manager: 'n' }),
      )
      expectMatch(first, {
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ],
      })
      expectStatus(await apply(place, ['deployments', partly({ name: 'x', args: ['two'] })], { manager: 'n' }), {
        code: 409,
        message: /containers\[name="x"\]\.args$/,
      })
    },
  },
  {
    id: 'server/apply-kinds/owners',
    rule: 'The owned fields of a workload go down to the leaves; a selector is owned as a whole.',
    async run(place) {
      const made = ok(await apply(place, ['deployments', workload({ name: 'x', image: 'x:1' })]), 201)
      assert.deepEqual(ownersOf(made), {
        'm Apply': [
          '.spec.selector',
          '.spec.template.metadata.labels.app',
          '.spec.template.spec.containers[name="x"]',
          '.spec.template.spec.containers[name="x"].image',
          '.spec.template.spec.containers[name="x"].name',
        ],
      })
    },
  },
  {
    id: 'server/apply-kinds/post-owners',
    rule: 'A create owns the defaults too.',
    async run(place) {
      const made = ok(
        await place.post('services', sample('services', 's', { spec: { selector: labels } }), {
          query: { fieldManager: 'u' },
        }),
        201,
      )
      const owned = ownersOf(made)['u Update'] ?? []
      for (const path of [
        '.spec.ports[port=80,protocol="TCP"].targetPort',
        '.spec.selector',
        '.spec.sessionAffinity',
        '.spec.type',
      ])
        assert.ok(owned.includes(path), `${path} in ${owned.join()}`)
    },
  },
  {
    id: 'server/apply-kinds/scale',
    rule: 'Scaling a Deployment takes the replicas from the manager that applied them.',
    async run(place) {
      const { spec, ...rest } = workload({ name: 'x', image: 'x:1' })
      ok(await apply(place, ['deployments', { ...rest, spec: { ...(spec as Fields), replicas: 2 } }]), 201)
      ok(
        await place.patch('deployments', 'a/scale', {
          body: { spec: { replicas: 5 } },
          query: { fieldManager: 'scaler' },
        }),
        200,
      )
      assert.deepEqual(ownersOf(ok(await place.get('deployments', 'a')))['scaler Update scale'], ['.spec.replicas'])
      expectStatus(await apply(place, ['deployments', { ...rest, spec: { ...(spec as Fields), replicas: 2 } }]), {
        code: 409,
        message:
          'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale" using apps/v1: .spec.replicas',
      })
      expectMatch(ok(await apply(place, ['deployments', { ...rest, spec }]), 200), { spec: { replicas: 5 } })
    },
  },
  {
    id: 'server/apply-kinds/status',
    rule: 'Conditions are merged by type, in the status only.',
    async run(place) {
      ok(await apply(place, ['deployments', workload({ name: 'x', image: 'x:1' })]), 201)
      const condition = (type: string): Fields => ({
        type,
        status: 'True',
        reason: 'R',
        message: 'm',
        lastTransitionTime: '2026-01-01T00:00:00Z',
        lastUpdateTime: '2026-01-01T00:00:00Z',
      })
      ok(await apply(place, ['deployments', { status: { conditions: [condition('A')] } }], { part: 'status' }), 200)
      const next = ok(
        await apply(place, ['deployments', { status: { conditions: [condition('B')] } }], {
          part: 'status',
          manager: 'n',
        }),
        200,
      )
      expectMatch(next.status, { conditions: [{ type: 'A' }, { type: 'B' }] })
    },
  },
  {
    id: 'server/apply-kinds/quantities',
    rule: 'A quantity in another notation is another value.',
    async run(place) {
      ok(
        await apply(place, [
          'deployments',
          workload({ name: 'x', image: 'x:1', resources: { requests: { cpu: '1' } } }),
        ]),
        201,
      )
      expectStatus(
        await apply(place, ['deployments', partly({ name: 'x', resources: { requests: { cpu: '2' } } })], {
          manager: 'n',
        }),
        { code: 409, message: /resources\.requests\.cpu/ },
      )
    },
  },
  {
    id: 'server/apply-kinds/secret',
    rule: 'stringData is owned as it was applied.',
    async run(place) {
      const made = ok(await apply(place, ['secrets', { stringData: { k: 'v' } }]), 201)
      expectMatch(made, { data: { k: 'dg==' }, stringData: undefined })
    },
  },
  {
    id: 'server/apply-kinds/unknown-field',
    rule: 'An apply with an unknown field fails.',
    async run(place) {
      expectStatus(await apply(place, ['configmaps', { colour: 'red' }]), {
        code: 500,
        message:
          /failed to create typed patch object \(.*\/a; \/v1, Kind=ConfigMap\): \.colour: field not declared in schema/,
      })
    },
  },
  {
    id: 'server/apply-kinds/volumes',
    rule: 'Volumes are merged by name, and mounts by path.',
    async run(place) {
      const volume = (name: string): Fields => ({ name, emptyDir: {} })
      const spec = (...names: readonly string[]): Fields => ({
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: {
              containers: [
                { name: 'x', image: 'x:1', volumeMounts: names.map((name) => ({ name, mountPath: `/${name}` })) },
              ],
              volumes: names.map(volume),
            },
          },
        },
      })
      ok(await apply(place, ['deployments', spec('one')]), 201)
      const next = ok(await apply(place, ['deployments', spec('two')], { manager: 'n' }), 200)
      const {
        volumes,
        containers: [first],
      } = (next.spec['template'] as Spec).spec
      expectMatch(volumes, [{ name: 'one' }, { name: 'two' }])
      expectMatch(first, { volumeMounts: [{ mountPath: '/one' }, { mountPath: '/two' }] })
    },
  },
]
