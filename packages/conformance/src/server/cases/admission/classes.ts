/**
 * Classes that give pods and claims their values: PriorityClasses, RuntimeClasses, StorageClasses, IngressClasses; and the
 * tolerations and taints that every pod and node starts with.
 */
import assert from 'node:assert/strict'
import { eventually } from '../../custom.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { sample, type Fields } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'
import { postPod, tryPod, withAccount } from './accounts.ts'

const dryRun = { query: { dryRun: 'All' } }

/** A server may take a moment to notice a class: repeats a dry run until the pod is accepted. */
async function noticed(place: Place, pod: Fields): Promise<void> {
  await eventually(
    () => tryPod(place, { spec: pod }),
    ({ text }) => !/no PriorityClass|RuntimeClass .* not found/.test(text),
  )
}

async function runtimeClass(place: Place, rest: Fields): Promise<string> {
  const name = place.unique('runtime')
  ok(await place.post('runtimeclasses', sample('runtimeclasses', name, rest)), 201)
  return name
}

const priorityCases: readonly ServerCase[] = [
  {
    id: 'server/priorities/none',
    rule: 'A pod without a class gets priority 0 and may preempt.',
    async run(place) {
      await withAccount(place)
      const { spec } = ok(await postPod(place, 'a'), 201)
      expectMatch(spec, { priority: 0, preemptionPolicy: 'PreemptLowerPriority', priorityClassName: undefined })
    },
  },
  {
    id: 'server/priorities/class',
    rule: 'A pod gets the number and the preemption policy of its class.',
    async run(place) {
      await withAccount(place)
      const name = place.unique('never')
      ok(
        await place.post('priorityclasses', sample('priorityclasses', name, { value: 77, preemptionPolicy: 'Never' })),
        201,
      )
      await noticed(place, { priorityClassName: name })
      const { spec } = ok(await postPod(place, 'a', { spec: { priorityClassName: name } }), 201)
      expectMatch(spec, { priority: 77, preemptionPolicy: 'Never', priorityClassName: name })
      expectStatus(await postPod(place, 'b', { spec: { priorityClassName: name, priority: 3 } }), {
        code: 403,
        message:
          'pods "b" is forbidden: the integer value of priority (3) must not be provided in pod spec; priority admission controller computed 77 from the given PriorityClass name',
      })
      expectStatus(
        await postPod(place, 'c', { spec: { priorityClassName: name, preemptionPolicy: 'PreemptLowerPriority' } }),
        {
          code: 403,
          message:
            'pods "c" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name',
        },
      )
      ok(await postPod(place, 'd', { spec: { priorityClassName: name, priority: 77 } }), 201)
    },
  },
  {
    id: 'server/priorities/system',
    rule: 'The classes of the system exist, and pods of every namespace may use them.',
    async run(place) {
      await withAccount(place)
      const { spec } = ok(await postPod(place, 'a', { spec: { priorityClassName: 'system-node-critical' } }), 201)
      expectMatch(spec, { priority: 2_000_001_000, preemptionPolicy: 'PreemptLowerPriority' })
    },
  },
  {
    id: 'server/priorities/missing',
    rule: 'A class that does not exist refuses the pod.',
    async run(place) {
      await withAccount(place)
      expectStatus(await postPod(place, 'a', { spec: { priorityClassName: 'nosuch' } }), {
        code: 403,
        reason: 'Forbidden',
        message: 'pods "a" is forbidden: no PriorityClass with name nosuch was found',
        details: { name: 'a', kind: 'pods' },
      })
    },
  },
  {
    id: 'server/priorities/update',
    rule: 'An update without a priority keeps it.',
    async run(place) {
      await withAccount(place)
      const made = ok(await postPod(place, 'a'), 201)
      const { priority, preemptionPolicy, ...spec } = made.spec as Fields
      assert.equal(priority, 0)
      assert.equal(preemptionPolicy, 'PreemptLowerPriority')
      const changed = ok(await place.put('pods', 'a', { body: { ...made, spec } }), 200)
      expectMatch(changed.spec, { priority: 0, preemptionPolicy: 'PreemptLowerPriority' })
    },
  },
]

const runtimeCases: readonly ServerCase[] = [
  {
    id: 'server/runtime-classes/missing',
    rule: 'A pod with a RuntimeClass that does not exist is refused.',
    async run(place) {
      await withAccount(place)
      expectStatus(await postPod(place, 'a', { spec: { runtimeClassName: 'nosuch' } }), {
        code: 403,
        reason: 'Forbidden',
        message: 'pods "a" is forbidden: pod rejected: RuntimeClass "nosuch" not found',
      })
    },
  },
  {
    id: 'server/runtime-classes/overhead',
    rule: 'A pod gets the overhead of its class; another one is refused, and so is one without a class.',
    async run(place) {
      await withAccount(place)
      const name = await runtimeClass(place, { overhead: { podFixed: { cpu: '0.25', memory: '64Mi' } } })
      await noticed(place, { runtimeClassName: name })
      const { spec } = ok(await postPod(place, 'a', { spec: { runtimeClassName: name } }), 201)
      expectMatch(spec, { overhead: { cpu: '250m', memory: '64Mi' } })
      const other = { runtimeClassName: name, overhead: { cpu: '1' } }
      expectStatus(await postPod(place, 'b', { spec: other }), {
        code: 403,
        message: `pods "b" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead`,
      })
      ok(
        await postPod(place, 'c', { spec: { runtimeClassName: name, overhead: { cpu: '250m', memory: '64Mi' } } }),
        201,
      )
      expectStatus(await postPod(place, 'd', { spec: { overhead: { cpu: '1' } } }), {
        code: 403,
        message:
          'pods "d" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
      })
    },
  },
  {
    id: 'server/runtime-classes/scheduling',
    rule: 'Node selector and tolerations of the class are merged into those of the pod.',
    async run(place) {
      await withAccount(place)
      const scheduling = {
        nodeSelector: { runtime: 'judge' },
        tolerations: [
          { key: 'judge', operator: 'Exists' },
          { key: 'other', operator: 'Equal', value: 'x', effect: 'NoSchedule' },
        ],
      }
      const name = await runtimeClass(place, { scheduling })
      await noticed(place, { runtimeClassName: name })
      const { spec } = ok(
        await postPod(place, 'a', {
          spec: {
            runtimeClassName: name,
            nodeSelector: { zone: 'a' },
            tolerations: [
              { key: 'judge', operator: 'Equal', value: 'v', effect: 'NoSchedule' },
              { key: 'mine', operator: 'Exists' },
            ],
          },
        }),
        201,
      )
      expectMatch(spec, { nodeSelector: { zone: 'a', runtime: 'judge' } })
      assert.deepEqual(
        (spec['tolerations'] as Fields[]).map(({ key }) => key),
        ['mine', 'node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable', 'judge', 'other'],
      )
      expectStatus(await postPod(place, 'b', { spec: { runtimeClassName: name, nodeSelector: { runtime: 'x' } } }), {
        code: 403,
        message:
          'pods "b" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[runtime] = judge; pod.spec.nodeSelector[runtime] = x',
      })
    },
  },
]

const toleration = (key: string): Fields => ({
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
})

const taintCases: readonly ServerCase[] = [
  {
    id: 'server/taints/tolerations',
    rule: 'A pod tolerates a node that is not ready or unreachable for five minutes, unless it says otherwise.',
    async run(place) {
      await withAccount(place)
      const plain = ok(await postPod(place, 'a'), 201)
      assert.deepEqual(plain.spec['tolerations'], [toleration('not-ready'), toleration('unreachable')])
      const own = {
        key: 'node.kubernetes.io/unreachable',
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 5,
      }
      const chosen = ok(await postPod(place, 'b', { spec: { tolerations: [own] } }), 201)
      assert.deepEqual(chosen.spec['tolerations'], [own, toleration('not-ready')])
      const all = ok(await postPod(place, 'c', { spec: { tolerations: [{ operator: 'Exists' }] } }), 201)
      assert.deepEqual(all.spec['tolerations'], [{ operator: 'Exists' }])
    },
  },
  {
    id: 'server/taints/new-node',
    rule: 'A new node has the taint of a node that is not ready, once.',
    async run(place) {
      const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }
      const plain = ok(await place.post('nodes', sample('nodes', place.unique('a'))), 201)
      assert.deepEqual(plain.spec['taints'], [taint])
      const tainted = sample('nodes', place.unique('b'), { spec: { taints: [taint] } })
      assert.deepEqual(ok(await place.post('nodes', tainted), 201).spec['taints'], [taint])
    },
  },
]

const ingress = { metadata: { annotations: { 'kubernetes.io/ingress.class': 'old' } } }

const defaultClassCases: readonly ServerCase[] = [
  {
    id: 'server/default-classes/ingress',
    rule: 'An Ingress without a class gets the default one; one with the old annotation does not.',
    async run(place) {
      const name = place.unique('default')
      const marked = { metadata: { annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } } }
      ok(await place.post('ingressclasses', sample('ingressclasses', name, marked)), 201)
      // Other cases have no default class; so there is one at most.
      await eventually(
        () => place.post('ingresses', sample('ingresses', 'probe'), dryRun),
        ({ json }) => json.spec['ingressClassName'] === name,
      )
      expectMatch(ok(await place.post('ingresses', sample('ingresses', 'a')), 201).spec, { ingressClassName: name })
      const old = ok(await place.post('ingresses', sample('ingresses', 'b', ingress)), 201)
      expectMatch(old.spec, { ingressClassName: undefined })
    },
  },
  {
    id: 'server/default-classes/storage',
    rule: 'A claim without a class gets the default one; one with the empty class does not.',
    async run(place) {
      const name = place.unique('default')
      const marked = { metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } }
      ok(await place.post('storageclasses', sample('storageclasses', name, marked)), 201)
      const post = (claim: string, rest: Fields = {}, options = {}): ReturnType<typeof place.post> =>
        place.post('persistentvolumeclaims', sample('persistentvolumeclaims', claim, rest), options)
      await eventually(
        () => post('probe', {}, dryRun),
        ({ json }) => json.spec['storageClassName'] === name,
      )
      expectMatch(ok(await post('a'), 201).spec, { storageClassName: name })
      expectMatch(ok(await post('b', { spec: { storageClassName: '' } }), 201).spec, { storageClassName: '' })
    },
  },
  {
    id: 'server/storage-protection/finalizers',
    needs: ['storage-protection'],
    rule: 'New claims and volumes get a finalizer that keeps them while they are used.',
    async run(place) {
      const claim = ok(await place.post('persistentvolumeclaims', sample('persistentvolumeclaims', 'a')), 201)
      assert.deepEqual(claim.metadata['finalizers'], ['kubernetes.io/pvc-protection'])
      const volume = ok(await place.post('persistentvolumes', sample('persistentvolumes', place.unique('a'))), 201)
      assert.deepEqual(volume.metadata['finalizers'], ['kubernetes.io/pv-protection'])
    },
  },
  {
    id: 'server/storage-protection/unused',
    needs: ['storage-protection', 'collector'],
    rule: 'A deleted claim goes when no running pod uses it.',
    async run(place) {
      await withAccount(place)
      ok(await place.post('persistentvolumeclaims', sample('persistentvolumeclaims', 'a')), 201)
      const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'a' } }]
      ok(await postPod(place, 'p', { spec: { nodeName: 'n', volumes } }), 201)
      ok(await place.delete('persistentvolumeclaims', 'a'))
      expectMatch(ok(await place.get('persistentvolumeclaims', 'a')).metadata, { deletionTimestamp: /./ })
      ok(await place.delete('pods', 'p', { query: { gracePeriodSeconds: '0' } }))
      await eventually(
        () => place.get('persistentvolumeclaims', 'a'),
        ({ status }) => status === 404,
      )
    },
  },
]

export const classCases: readonly ServerCase[] = [
  ...priorityCases,
  ...runtimeCases,
  ...taintCases,
  ...defaultClassCases,
]
