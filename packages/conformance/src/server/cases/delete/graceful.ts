/**
 * Graceful deletion of Pods: the delete sets a deadline, and the kubelet removes the Pod.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { laidOver, sample } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

/** A scheduled Pod, as far as the server knows. */
async function scheduled(place: Place, rest: Readonly<Record<string, unknown>> = {}): Promise<void> {
  ok(await place.post('pods', laidOver(sample('pods', 'a', { spec: { nodeName: 'judge' } }), rest)), 201)
}

async function end(place: Place): Promise<void> {
  ok(await place.delete('pods', 'a', { query: { gracePeriodSeconds: 0 } }), 200)
}

export const gracefulCases: readonly ServerCase[] = [
  {
    id: 'server/graceful/scheduled',
    rule: 'A scheduled Pod stays with a deletion deadline: 30 seconds unless its spec says otherwise.',
    needs: ['still'],
    async run(place) {
      await scheduled(place)
      expectMatch(ok(await place.delete('pods', 'a'), 200), {
        kind: 'Pod',
        metadata: { deletionGracePeriodSeconds: 30, deletionTimestamp: /Z$/, generation: 2 },
      })
      ok(await place.get('pods', 'a'), 200)
      await end(place)
    },
  },
  {
    id: 'server/graceful/from-spec',
    rule: 'The default grace period is terminationGracePeriodSeconds of the spec.',
    needs: ['still'],
    async run(place) {
      await scheduled(place, { spec: { terminationGracePeriodSeconds: 7 } })
      expectMatch(ok(await place.delete('pods', 'a'), 200).metadata, { deletionGracePeriodSeconds: 7 })
      await end(place)
    },
  },
  {
    id: 'server/graceful/from-options',
    rule: 'gracePeriodSeconds of the request overrides the spec.',
    needs: ['still'],
    async run(place) {
      await scheduled(place)
      expectMatch(ok(await place.delete('pods', 'a', { query: { gracePeriodSeconds: 11 } }), 200).metadata, {
        deletionGracePeriodSeconds: 11,
      })
      await end(place)
    },
  },
  {
    id: 'server/graceful/negative',
    rule: 'A negative gracePeriodSeconds means 1.',
    needs: ['still'],
    async run(place) {
      await scheduled(place)
      expectMatch(ok(await place.delete('pods', 'a', { query: { gracePeriodSeconds: -5 } }), 200).metadata, {
        deletionGracePeriodSeconds: 1,
      })
      await end(place)
    },
  },
  {
    id: 'server/graceful/only-shorter',
    rule: 'A second delete can shorten the grace period, never extend it.',
    needs: ['still'],
    async run(place) {
      await scheduled(place)
      const first = ok(await place.delete('pods', 'a', { query: { gracePeriodSeconds: 300 } }))
      assert.deepEqual(
        ok(await place.delete('pods', 'a', { query: { gracePeriodSeconds: 900 } })).metadata.deletionTimestamp,
        first.metadata.deletionTimestamp,
      )
      const sooner = ok(await place.delete('pods', 'a', { query: { gracePeriodSeconds: 60 } }))
      expectMatch(sooner.metadata, {
        deletionGracePeriodSeconds: 60,
        deletionTimestamp: (time: string) => time < first.metadata.deletionTimestamp,
      })
      await end(place)
    },
  },
  {
    id: 'server/graceful/zero',
    rule: 'gracePeriodSeconds=0 removes a Pod immediately.',
    async run(place) {
      await scheduled(place)
      ok(await place.delete('pods', 'a', { query: { gracePeriodSeconds: 0 } }), 200)
      expectStatus(await place.get('pods', 'a'), { code: 404 })
    },
  },
  {
    id: 'server/graceful/unscheduled',
    rule: 'An unscheduled Pod is removed immediately.',
    needs: ['still'],
    async run(place) {
      ok(await place.post('pods', sample('pods', 'a')))
      expectMatch(ok(await place.delete('pods', 'a'), 200), { kind: 'Pod', metadata: { name: 'a' } })
      expectStatus(await place.get('pods', 'a'), { code: 404 })
    },
  },
  {
    id: 'server/graceful/finished',
    rule: 'A finished Pod is removed immediately.',
    needs: ['still'],
    async run(place) {
      await scheduled(place)
      ok(await place.patch('pods', 'a/status', { body: { status: { phase: 'Succeeded' } } }))
      ok(await place.delete('pods', 'a'), 200)
      expectStatus(await place.get('pods', 'a'), { code: 404 })
    },
  },
  {
    id: 'server/graceful/finalizer-removed-early',
    rule: 'A terminating Pod without finalizers stays until its grace period is set to 0.',
    needs: ['still'],
    async run(place) {
      await scheduled(place, { metadata: { finalizers: ['example.com/judge'] } })
      ok(await place.delete('pods', 'a'))
      ok(await place.patch('pods', 'a', { body: { metadata: { finalizers: null } } }), 200)
      ok(await place.get('pods', 'a'), 200)
      await end(place)
      expectStatus(await place.get('pods', 'a'), { code: 404 })
    },
  },
  {
    id: 'server/graceful/finalizer-stays-at-zero',
    rule: 'A Pod with a finalizer stays terminating even with gracePeriodSeconds=0.',
    needs: ['still'],
    async run(place) {
      await scheduled(place, { metadata: { finalizers: ['example.com/judge'] } })
      expectMatch(ok(await place.delete('pods', 'a', { query: { gracePeriodSeconds: 0 } }), 200).metadata, {
        deletionGracePeriodSeconds: 0,
        finalizers: ['example.com/judge'],
      })
      ok(await place.patch('pods', 'a', { body: { metadata: { finalizers: null } } }), 200)
      expectStatus(await place.get('pods', 'a'), { code: 404 })
    },
  },
]
