/**
 * The events of a watch: every change once, in order, from the requested start.
 */
import assert from 'node:assert/strict'
import { brief, expectMatch, expectStatus, isNewer, ok } from '../../expect.ts'
import { sample } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

async function versionNow(place: Place): Promise<string> {
  return ok(await place.list('leases')).metadata.resourceVersion
}

async function make(place: Place, name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
  ok(await place.post('leases', sample('leases', name, { metadata: { labels } })), 201)
}

const starts: readonly ServerCase[] = [
  {
    id: 'server/watch/frames',
    rule: 'A watch returns 200 in JSON immediately, one event per line: the type and the whole object with its kind.',
    async run(place) {
      const stream = await place.watch('leases', { resourceVersion: await versionNow(place) })
      assert.match(stream.headers['content-type'] ?? '', /^application\/json/)
      await make(place, 'a')
      const event = await stream.next()
      assert.deepEqual(event, { type: 'ADDED', object: ok(await place.get('leases', 'a')) })
    },
  },
  {
    id: 'server/watch/from-version',
    rule: 'A watch from a resourceVersion sends every later event and no earlier one.',
    async run(place) {
      await make(place, 'a')
      const resourceVersion = await versionNow(place)
      await make(place, 'b')
      ok(await place.patch('leases', 'a', { body: { spec: { holderIdentity: 'x' } } }))
      ok(await place.delete('leases', 'b'))
      const stream = await place.watch('leases', { resourceVersion })
      assert.deepEqual(brief(await stream.take(3)), ['ADDED b', 'MODIFIED a', 'DELETED b'])
      await make(place, 'c')
      assert.deepEqual(brief([await stream.next()]), ['ADDED c'])
    },
  },
  {
    id: 'server/watch/without-version',
    rule: 'A watch without a resourceVersion sends the existing objects as ADDED, in order, and continues with live events.',
    async run(place) {
      for (const name of ['b', 'a']) await make(place, name)
      ok(await place.patch('leases', 'a', { body: { spec: { holderIdentity: 'x' } } }))
      for (const query of [{}, { resourceVersion: '0' }]) {
        const stream = await place.watch('leases', query)
        const events = await stream.take(2)
        assert.deepEqual(brief(events).sort(), ['ADDED a', 'ADDED b'])
        assert.equal(events.find(({ object }) => object.metadata.name === 'a')?.object.spec['holderIdentity'], 'x')
      }
    },
  },
  {
    id: 'server/watch/deleted',
    rule: 'A DELETED event carries the last state, with the resourceVersion of the deletion.',
    async run(place) {
      await make(place, 'a')
      const last = ok(await place.patch('leases', 'a', { body: { spec: { holderIdentity: 'x' } } }))
      const stream = await place.watch('leases', { resourceVersion: last.metadata.resourceVersion })
      ok(await place.delete('leases', 'a'))
      const { type, object } = await stream.next()
      assert.equal(type, 'DELETED')
      expectMatch(object, { spec: { holderIdentity: 'x' }, metadata: { uid: last.metadata.uid } })
      assert.ok(isNewer(object, last))
      const again = await place.watch('leases', { resourceVersion: object.metadata.resourceVersion })
      await make(place, 'b')
      assert.deepEqual(brief([await again.next()]), ['ADDED b'])
    },
  },
  {
    id: 'server/watch/all-namespaces',
    rule: 'A watch without a namespace sends the events of all namespaces.',
    async run(place) {
      const stream = await place.client.watch('/apis/coordination.k8s.io/v1/leases', {
        query: { resourceVersion: await versionNow(place), labelSelector: `run=${place.namespace}` },
      })
      await make(place, 'a', { run: place.namespace })
      expectMatch(await stream.next(), {
        type: 'ADDED',
        object: { metadata: { name: 'a', namespace: place.namespace } },
      })
    },
  },
  {
    id: 'server/watch/other-namespaces',
    rule: 'A watch of one namespace sends no events of other namespaces.',
    async run(place) {
      const other = place.unique('0')
      ok(await place.post('namespaces', sample('namespaces', other)))
      const stream = await place.watch('leases', { resourceVersion: await versionNow(place) })
      ok(
        await place.client.request('POST', `/apis/coordination.k8s.io/v1/namespaces/${other}/leases`, {
          body: sample('leases', 'x'),
        }),
        201,
      )
      await make(place, 'a')
      assert.deepEqual(brief([await stream.next()]), ['ADDED a'])
    },
  },
  {
    id: 'server/watch/two-watchers',
    rule: 'Two watchers see the same events in the same order.',
    async run(place) {
      const resourceVersion = await versionNow(place)
      const [one, two] = await Promise.all([
        place.watch('leases', { resourceVersion }),
        place.watch('leases', { resourceVersion }),
      ])
      await Promise.all(Array.from({ length: 10 }, (_, index) => make(place, `a${index}`)))
      const events = await one.take(10)
      assert.deepEqual(await two.take(10), events)
      assert.ok(
        events.every(({ object }, index) => index === 0 || isNewer(object, events[index - 1]?.object ?? object)),
      )
    },
  },
  {
    id: 'server/watch/list-then-watch',
    rule: 'Between a list and a watch from its resourceVersion no event is lost or sent twice, despite concurrent writes.',
    async run(place) {
      const writing = Promise.all(Array.from({ length: 20 }, (_, index) => make(place, `a${index}`)))
      const list = ok(await place.list('leases'))
      const stream = await place.watch('leases', { resourceVersion: list.metadata.resourceVersion })
      await writing
      const events = await stream.take(20 - list.items.length)
      const names = [
        ...list.items.map(({ metadata }) => metadata.name),
        ...events.map(({ object }) => object.metadata.name),
      ]
      assert.equal(new Set(names).size, 20)
    },
  },
  {
    id: 'server/watch/one-path',
    rule: 'The deprecated `/watch/` paths still stream.',
    async run(place) {
      await make(place, 'a')
      const collection = await place.client.watch(
        `/apis/coordination.k8s.io/v1/watch/namespaces/${place.namespace}/leases`,
      )
      assert.deepEqual(brief([await collection.next()]), ['ADDED a'])
      const single = await place.client.watch(
        `/apis/coordination.k8s.io/v1/watch/namespaces/${place.namespace}/leases/a`,
      )
      assert.deepEqual(brief([await single.next()]), ['ADDED a'])
    },
  },
]

const selections: readonly ServerCase[] = [
  {
    id: 'server/watch/labels',
    rule: 'With a label selector, an object that starts to match is ADDED and one that stops is DELETED, with the old content and the new version.',
    async run(place) {
      await make(place, 'a', { in: 'yes' })
      await make(place, 'b')
      const stream = await place.watch('leases', { resourceVersion: await versionNow(place), labelSelector: 'in=yes' })
      const label = (name: string, value: string | null): Promise<unknown> =>
        place.patch('leases', name, { body: { metadata: { labels: { in: value } } } })
      await label('b', 'yes')
      ok(await place.patch('leases', 'a', { body: { spec: { holderIdentity: 'x' } } }))
      await label('a', 'no')
      await label('a', null)
      await label('a', 'yes')
      const events = await stream.take(4)
      assert.deepEqual(brief(events), ['ADDED b', 'MODIFIED a', 'DELETED a', 'ADDED a'])
      expectMatch(events[2]?.object, { metadata: { labels: { in: 'yes' } }, spec: { holderIdentity: 'x' } })
      assert.ok(events[1] && events[2] && isNewer(events[2].object, events[1].object))
    },
  },
  {
    id: 'server/watch/labels-ignored-objects',
    rule: 'A watch sends no events of objects that never matched, not even their deletion.',
    async run(place) {
      await make(place, 'a')
      const stream = await place.watch('leases', { resourceVersion: await versionNow(place), labelSelector: 'in=yes' })
      ok(await place.delete('leases', 'a'))
      await make(place, 'b', { in: 'yes' })
      assert.deepEqual(brief([await stream.next()]), ['ADDED b'])
    },
  },
  {
    id: 'server/watch/name',
    rule: 'A watch of one name sends only the events of that object.',
    async run(place) {
      const stream = await place.watch('leases', { fieldSelector: 'metadata.name=b' })
      for (const name of ['a', 'b', 'c']) await make(place, name)
      ok(await place.delete('leases', 'a'))
      ok(await place.delete('leases', 'b'))
      assert.deepEqual(brief(await stream.take(2)), ['ADDED b', 'DELETED b'])
    },
  },
  {
    id: 'server/watch/fields',
    rule: 'With a field selector, objects enter and leave the watch as their fields change.',
    async run(place) {
      ok(await place.post('pods', sample('pods', 'a')))
      const {
        metadata: { resourceVersion },
      } = ok(await place.list('pods'))
      const stream = await place.watch('pods', { resourceVersion, fieldSelector: 'status.phase=Running' })
      for (const phase of ['Running', 'Succeeded'])
        ok(await place.patch('pods', 'a/status', { body: { status: { phase } } }))
      const events = await stream.take(2)
      assert.deepEqual(brief(events), ['ADDED a', 'DELETED a'])
      expectMatch(events[1]?.object.status, { phase: 'Running' })
    },
  },
  {
    id: 'server/watch/bad-selector',
    rule: 'A watch with a bad selector is rejected before it starts.',
    async run(place) {
      expectStatus(await place.list('leases', { watch: true, labelSelector: 'a b' }), {
        code: 400,
        reason: 'BadRequest',
      })
      expectStatus(await place.list('leases', { watch: true, fieldSelector: 'spec.x=y' }), {
        code: 400,
        reason: 'BadRequest',
      })
    },
  },
]

export const watchCases: readonly ServerCase[] = [...starts, ...selections]
