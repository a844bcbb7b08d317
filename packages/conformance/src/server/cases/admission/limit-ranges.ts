/**
 * LimitRanges: defaults of containers, and what is refused.
 */
import { eventually } from '../../custom.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { sample, type Fields } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'
import { postPod, tryPod, withAccount } from './accounts.ts'

/** A LimitRange in force: a server may take a moment to notice it. */
async function limited(
  place: Place,
  limits: readonly Fields[],
  probe: { pod?: Fields; claim?: Fields },
): Promise<void> {
  await withAccount(place)
  ok(await place.post('limitranges', sample('limitranges', 'limits', { spec: { limits } })), 201)
  await eventually(
    () =>
      probe.claim === undefined
        ? tryPod(place, { spec: probe.pod })
        : place.post('persistentvolumeclaims', sample('persistentvolumeclaims', 'probe', probe.claim), {
            query: { dryRun: 'All' },
          }),
    ({ status, json }) => status === 403 || 'annotations' in json.metadata,
  )
}

const container = (resources: Fields, rest: Fields = {}): Fields => ({ name: 'main', image: 'i', resources, ...rest })
const spec = (...containers: readonly Fields[]): Fields => ({ spec: { containers } })

interface Refusal {
  readonly id: string
  readonly rule: string
  readonly limits: Fields
  readonly pod: Fields
  readonly message: string
}

const refusals: readonly Refusal[] = [
  {
    id: 'max-limit',
    rule: 'A limit above the maximum of a LimitRange is refused.',
    limits: { type: 'Container', max: { cpu: '1' } },
    pod: spec(container({ limits: { cpu: '2' } })),
    message: 'maximum cpu usage per Container is 1, but limit is 2',
  },
  {
    id: 'min-request',
    rule: 'A request below the minimum is refused.',
    limits: { type: 'Container', min: { memory: '64Mi' } },
    pod: spec(container({ requests: { memory: '1Mi' } })),
    message: 'minimum memory usage per Container is 64Mi, but request is 1Mi',
  },
  {
    id: 'ratio',
    rule: 'A limit that is too many times the request is refused.',
    limits: { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
    pod: spec(container({ requests: { cpu: '300m' }, limits: { cpu: '1' } })),
    message: 'cpu max limit to request ratio per Container is 2, but provided ratio is 3.333333',
  },
  {
    id: 'ratio-without-request',
    rule: 'A ratio needs a request and a limit.',
    limits: { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
    pod: spec(container({})),
    message: 'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
  },
  {
    id: 'pod-sum',
    rule: 'The limits of all containers together may not exceed that of a pod.',
    limits: { type: 'Pod', max: { cpu: '1' } },
    pod: spec(container({ limits: { cpu: '600m' } }), container({ limits: { cpu: '700m' } }, { name: 'second' })),
    message: 'maximum cpu usage per Pod is 1, but limit is 1300m',
  },
  {
    id: 'pod-init',
    rule: 'An init container counts alone, with the restartable ones before it.',
    limits: { type: 'Pod', max: { cpu: '1' } },
    pod: {
      spec: {
        initContainers: [
          container({ limits: { cpu: '500m' } }, { name: 'sidecar', restartPolicy: 'Always' }),
          container({ limits: { cpu: '900m' } }, { name: 'init' }),
        ],
        containers: [container({ limits: { cpu: '100m' } })],
      },
    },
    message: 'maximum cpu usage per Pod is 1, but limit is 1400m',
  },
  {
    id: 'pod-without-limit',
    rule: 'A maximum for pods needs a limit.',
    limits: { type: 'Pod', max: { memory: '1Gi' } },
    pod: spec(container({})),
    message: 'maximum memory usage per Pod is 1Gi.  No limit is specified',
  },
  {
    id: 'several-containers',
    rule: 'All containers are reported together.',
    limits: { type: 'Container', max: { cpu: '1' } },
    pod: spec(container({ limits: { cpu: '2' } }), container({ limits: { cpu: '3' } }, { name: 'second' })),
    message:
      '[maximum cpu usage per Container is 1, but limit is 2, maximum cpu usage per Container is 1, but limit is 3]',
  },
  {
    id: 'init-container',
    rule: 'Init containers are limited as well.',
    limits: { type: 'Container', max: { cpu: '1' } },
    pod: {
      spec: { initContainers: [container({ limits: { cpu: '2' } }, { name: 'init' })], containers: [container({})] },
    },
    message: 'maximum cpu usage per Container is 1, but limit is 2',
  },
]

const refusalCases = refusals.map(({ id, rule, limits, pod, message }): ServerCase => ({
  id: `server/limit-ranges/${id}`,
  rule,
  async run(place) {
    await limited(place, [limits], { pod: pod['spec'] as Fields })
    expectStatus(await place.post('pods', sample('pods', 'a', pod)), {
      code: 403,
      reason: 'Forbidden',
      message: `pods "a" is forbidden: ${message}`,
      details: { name: 'a', kind: 'pods', causes: undefined },
    })
  },
}))

const more: readonly ServerCase[] = [
  {
    id: 'server/limit-ranges/defaults',
    rule: 'Containers without requests and limits get those of the LimitRange, listed in an annotation; others keep theirs.',
    async run(place) {
      const limits = [
        { type: 'Container', default: { cpu: '1', memory: '1Gi' }, defaultRequest: { cpu: '100m' }, max: { cpu: '2' } },
      ]
      await limited(place, limits, { pod: { containers: [container({})] } })
      const made = ok(
        await postPod(place, 'a', {
          spec: {
            initContainers: [container({}, { name: 'init' })],
            containers: [container({ limits: { cpu: '2' } }), container({}, { name: 'second' })],
          },
        }),
        201,
      )
      expectMatch(made, {
        metadata: {
          annotations: {
            'kubernetes.io/limit-ranger':
              'LimitRanger plugin set: memory request for container main; memory limit for container main; cpu, memory request for container second; cpu, memory limit for container second; cpu, memory request for init container init; cpu, memory limit for init container init',
          },
        },
        spec: {
          initContainers: [
            { resources: { requests: { cpu: '100m', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } } },
          ],
          containers: [
            { resources: { requests: { cpu: '2', memory: '1Gi' }, limits: { cpu: '2', memory: '1Gi' } } },
            { resources: { requests: { cpu: '100m', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } } },
          ],
        },
        status: { qosClass: 'Burstable' },
      })
    },
  },
  {
    id: 'server/limit-ranges/claim',
    rule: 'The request of a claim must be within the limits for claims, when it is created and when it grows.',
    async run(place) {
      const limits = [{ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } }]
      const claim = (storage: string): Fields => ({ spec: { resources: { requests: { storage } } } })
      await limited(place, limits, { claim: claim('9Gi') })
      const post = (name: string, storage: string): ReturnType<typeof place.post> =>
        place.post('persistentvolumeclaims', sample('persistentvolumeclaims', name, claim(storage)))
      expectStatus(await post('a', '1Mi'), {
        code: 403,
        message:
          'persistentvolumeclaims "a" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi',
      })
      expectStatus(await post('a', '9Gi'), {
        code: 403,
        message:
          'persistentvolumeclaims "a" is forbidden: maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 9Gi',
      })
      ok(await post('a', '2Gi'), 201)
    },
  },
  {
    id: 'server/limit-ranges/update',
    rule: 'Updates of a pod are not limited; a resize is.',
    async run(place) {
      await withAccount(place)
      const resources = { requests: { cpu: '1' }, limits: { cpu: '2' } }
      ok(await postPod(place, 'a', spec(container(resources))), 201)
      await limited(place, [{ type: 'Container', max: { cpu: '1' } }], { pod: { containers: [container(resources)] } })
      ok(await place.patch('pods', 'a', { body: { metadata: { labels: { a: 'b' } } } }), 200)
      expectStatus(
        await place.patch('pods', 'a/resize', {
          type: 'application/strategic-merge-patch+json',
          body: spec({ name: 'main', resources: { limits: { cpu: '3' } } }),
        }),
        { code: 403, message: 'pods "a" is forbidden: maximum cpu usage per Container is 1, but limit is 3' },
      )
    },
  },
  {
    id: 'server/limit-ranges/generated-name',
    rule: 'A refusal names a pod with a generated name.',
    async run(place) {
      const pod = spec(container({ limits: { cpu: '2' } }))
      await limited(place, [{ type: 'Container', max: { cpu: '1' } }], { pod: pod['spec'] as Fields })
      const unnamed = sample('pods', undefined, { metadata: { generateName: 'a-' }, ...pod })
      expectStatus(await place.post('pods', unnamed), {
        code: 403,
        message: /^pods "a-[a-z0-9]{5}" is forbidden: maximum cpu usage per Container is 1, but limit is 2$/,
      })
    },
  },
]

export const limitRangeCases: readonly ServerCase[] = [...refusalCases, ...more]
