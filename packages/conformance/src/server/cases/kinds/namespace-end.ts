/**
 * Namespaces with controllers: the objects that each one has from the start, and the deletion.
 */
import assert from 'node:assert/strict'
import type { Loose } from '../../answer.ts'
import { defineCustom, eventually, groupIn } from '../../custom.ts'
import { expectMatch, ok } from '../../expect.ts'
import { sample } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

const needs = ['collector'] as const
const hold = 'example.com/judge'

function conditionOf({ status }: Loose, type: string): { status: string; reason: string; message: string } | undefined {
  const { conditions = [] } = (status ?? {}) as {
    conditions?: readonly { type: string; status: string; reason: string; message: string }[]
  }
  return conditions.find((one) => one.type === type)
}

/** The namespace of the case, once one of its conditions is true. */
async function complains(place: Place, type: string): Promise<Loose> {
  return (
    await eventually(
      () => place.get('namespaces', place.namespace),
      ({ status, json }) => status === 404 || conditionOf(json, type)?.status === 'True',
    )
  ).json
}

async function isGone(place: Place): Promise<void> {
  await eventually(
    () => place.get('namespaces', place.namespace),
    ({ status }) => status === 404,
  )
}

export const namespaceEndCases: readonly ServerCase[] = [
  {
    id: 'server/namespaces/default-account',
    rule: 'Every namespace has a ServiceAccount `default`; if deleted, it is recreated.',
    needs,
    async run(place) {
      const { json } = await eventually(
        () => place.get('serviceaccounts', 'default'),
        ({ status }) => status === 200,
      )
      ok(await place.delete('serviceaccounts', 'default'), 200)
      await eventually(
        () => place.get('serviceaccounts', 'default'),
        (answer) => answer.status === 200 && answer.json.metadata.uid !== json.metadata.uid,
      )
    },
  },
  {
    id: 'server/namespaces/root-certificate',
    rule: 'Every namespace has a ConfigMap `kube-root-ca.crt` with the CA of the server; changes and deletions are reverted.',
    needs,
    async run(place) {
      const read = (): ReturnType<typeof place.get> => place.get('configmaps', 'kube-root-ca.crt')
      const { json } = await eventually(read, ({ status }) => status === 200)
      const { 'ca.crt': ca, ...rest } = json.data
      assert.match(String(ca), /^-----BEGIN CERTIFICATE-----/)
      assert.deepEqual(rest, {})
      ok(await place.patch('configmaps', 'kube-root-ca.crt', { body: { data: { 'ca.crt': 'other', more: 'x' } } }), 200)
      await eventually(read, (answer) => JSON.stringify(answer.json.data) === JSON.stringify(json.data))
      ok(await place.delete('configmaps', 'kube-root-ca.crt'), 200)
      await eventually(read, ({ status }) => status === 200)
    },
  },
  {
    id: 'server/namespaces/emptied',
    rule: 'Deleting a namespace deletes everything in it, custom objects too, and then the namespace.',
    needs,
    async run(place) {
      const widgets = await defineCustom(place)
      ok(await widgets.create('a'), 201)
      ok(await place.post('configmaps', sample('configmaps', 'a')), 201)
      ok(await place.delete('namespaces', place.namespace), 200)
      await isGone(place)
      ok(await place.post('namespaces', sample('namespaces', place.namespace)), 201)
      assert.equal((await widgets.get('a')).status, 404)
      assert.equal((await place.get('configmaps', 'a')).status, 404)
    },
  },
  {
    id: 'server/namespaces/stuck',
    rule: 'A namespace with an object held by a finalizer stays Terminating, and its conditions name both.',
    needs,
    async run(place) {
      const widgets = await defineCustom(place)
      ok(await widgets.create('a', { metadata: { finalizers: [hold] } }), 201)
      ok(await place.delete('namespaces', place.namespace), 200)
      const stuck = await complains(place, 'NamespaceFinalizersRemaining')
      expectMatch(stuck.status, { phase: 'Terminating' })
      expectMatch(conditionOf(stuck, 'NamespaceFinalizersRemaining'), {
        reason: 'SomeFinalizersRemain',
        message: `Some content in the namespace has finalizers remaining: ${hold} in 1 resource instances`,
      })
      expectMatch(conditionOf(stuck, 'NamespaceContentRemaining'), {
        status: 'True',
        reason: 'SomeResourcesRemain',
        message: `Some resources are remaining: widgets.${groupIn(place)} has 1 resource instances`,
      })
      expectMatch(conditionOf(stuck, 'NamespaceDeletionDiscoveryFailure'), {
        status: 'False',
        reason: 'ResourcesDiscovered',
        message: 'All resources successfully discovered',
      })
      expectMatch(conditionOf(stuck, 'NamespaceDeletionGroupVersionParsingFailure'), {
        status: 'False',
        reason: 'ParsedGroupVersions',
        message: 'All legacy kube types successfully parsed',
      })
      expectMatch(conditionOf(stuck, 'NamespaceDeletionContentFailure'), {
        status: 'False',
        reason: 'ContentDeleted',
        message: 'All content successfully deleted, may be waiting on finalization',
      })
      ok(await widgets.patch('a', { metadata: { finalizers: null } }))
      await isGone(place)
    },
  },
  {
    id: 'server/namespaces/pods-first',
    rule: 'While a Pod remains in a terminating namespace, nothing else in it is deleted.',
    needs,
    async run(place) {
      ok(await place.post('pods', sample('pods', 'a', { metadata: { finalizers: [hold] } })), 201)
      ok(await place.post('configmaps', sample('configmaps', 'used', { metadata: { finalizers: [hold] } })), 201)
      ok(await place.delete('namespaces', place.namespace), 200)
      await eventually(
        () => place.get('pods', 'a'),
        ({ json }) => json.metadata.deletionTimestamp !== undefined,
      )
      expectMatch(ok(await place.get('configmaps', 'used'), 200).metadata, { deletionTimestamp: undefined })
      ok(await place.patch('pods', 'a', { body: { metadata: { finalizers: null } } }))
      await eventually(
        () => place.get('configmaps', 'used'),
        ({ json }) => json.metadata.deletionTimestamp !== undefined,
      )
      ok(await place.patch('configmaps', 'used', { body: { metadata: { finalizers: null } } }))
      await isGone(place)
    },
  },
]
