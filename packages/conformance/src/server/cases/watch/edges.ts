/**
 * Edge cases of a watch: too old, too new, bookmarks, streaming list, other representations, the end.
 */
import assert from 'node:assert/strict'
import { brief, expectMatch, expectStatus, ok } from '../../expect.ts'
import { sample } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

const future = '900000000000000'
const streaming = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true } as const
const ended = { 'k8s.io/initial-events-end': 'true' }

async function make(place: Place, name: string): Promise<string> {
  return ok(await place.post('leases', sample('leases', name)), 201).metadata.resourceVersion
}

const time: readonly ServerCase[] = [
  {
    id: 'server/watch/too-old',
    rule: 'A watch from a compacted resourceVersion returns 200, sends one ERROR event with a 410 Expired, and ends.',
    needs: ['compaction'],
    async run(place) {
      const resourceVersion = await make(place, 'a')
      for (const name of ['b', 'c', 'd']) await make(place, name)
      await place.target.compact?.()
      const stream = await place.watch('leases', { resourceVersion })
      const events = await stream.rest()
      expectMatch(events, [
        {
          type: 'ERROR',
          object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410, message: /./ },
        },
      ])
    },
  },
  {
    id: 'server/watch/ancient',
    rule: 'A watch from resourceVersion 1, long compacted, sends one ERROR event with a 410 Expired.',
    needs: ['compaction'],
    async run(place) {
      await make(place, 'a')
      await place.target.compact?.()
      expectMatch(await (await place.watch('leases', { resourceVersion: 1 })).rest(), [
        { type: 'ERROR', object: { reason: 'Expired', code: 410 } },
      ])
    },
  },
  {
    id: 'server/watch/too-new',
    rule: 'A watch from a resourceVersion in the future waits: it sends no events and ends cleanly.',
    async run(place) {
      const stream = await place.watch('leases', { resourceVersion: future, timeoutSeconds: 1 })
      await make(place, 'a')
      assert.deepEqual(await stream.rest(), [])
    },
  },
  {
    id: 'server/watch/unreadable-version',
    rule: 'A watch from a resourceVersion that is not a number is rejected before it starts.',
    async run(place) {
      const answer = await place.list('leases', { watch: true, resourceVersion: 'abc' })
      assert.ok(answer.status >= 400, String(answer))
      expectMatch(answer.json, { kind: 'Status', status: 'Failure' })
    },
  },
  {
    id: 'server/watch/timeout',
    rule: 'timeoutSeconds ends a watch cleanly, without an ERROR.',
    async run(place) {
      await make(place, 'a')
      assert.deepEqual(brief(await (await place.watch('leases', { timeoutSeconds: 1 })).rest()), ['ADDED a'])
    },
  },
  {
    id: 'server/watch/bad-timeout',
    rule: 'A timeoutSeconds that is not a number is a bad request.',
    async run(place) {
      expectStatus(await place.list('leases', { watch: true, timeoutSeconds: 'soon' }), {
        code: 400,
        reason: 'BadRequest',
      })
    },
  },
]

const bookmarks: readonly ServerCase[] = [
  {
    id: 'server/watch/no-bookmarks',
    rule: 'A watch that did not request bookmarks gets none, not even at the end.',
    async run(place) {
      const resourceVersion = await make(place, 'a')
      assert.deepEqual(await (await place.watch('leases', { resourceVersion, timeoutSeconds: 2 })).rest(), [])
    },
  },
  {
    id: 'server/watch/bookmark-before-end',
    rule: 'A watch that requested bookmarks gets one before the timeout if anything happened: only kind and resourceVersion.',
    async run(place) {
      const resourceVersion = await make(place, 'a')
      const stream = await place.watch('leases', { resourceVersion, timeoutSeconds: 4, allowWatchBookmarks: true })
      const newest = await make(place, 'b')
      const events = await stream.rest()
      const { type, object } = events.at(-1) ?? assert.fail('no event came')
      assert.equal(type, 'BOOKMARK')
      expectMatch(object, {
        kind: 'Lease',
        apiVersion: 'coordination.k8s.io/v1',
        metadata: { name: undefined, uid: undefined },
      })
      assert.ok(BigInt(object.metadata.resourceVersion) >= BigInt(newest))
    },
  },
]

const streamingLists: readonly ServerCase[] = [
  {
    id: 'server/watch/initial-events',
    rule: 'A streaming list sends the existing objects as ADDED, then an annotated bookmark, then changes.',
    async run(place) {
      await make(place, 'a')
      const newest = await make(place, 'b')
      const stream = await place.watch('leases', streaming)
      const events = await stream.take(3)
      assert.deepEqual(brief(events.slice(0, 2)), ['ADDED a', 'ADDED b'])
      expectMatch(events[2], {
        type: 'BOOKMARK',
        object: { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: { annotations: ended } },
      })
      assert.ok(BigInt(events[2]?.object.metadata.resourceVersion ?? '0') >= BigInt(newest))
      await make(place, 'c')
      assert.deepEqual(brief([await stream.next()]), ['ADDED c'])
    },
  },
  {
    id: 'server/watch/initial-events-empty',
    rule: 'A streaming list of an empty collection starts with the annotated bookmark.',
    async run(place) {
      expectMatch(await (await place.watch('leases', streaming)).next(), {
        type: 'BOOKMARK',
        object: { metadata: { annotations: ended } },
      })
    },
  },
  {
    id: 'server/watch/initial-events-version',
    rule: 'A streaming list can set a minimum resourceVersion: 0 or a specific one.',
    async run(place) {
      const resourceVersion = await make(place, 'a')
      for (const version of ['0', resourceVersion]) {
        const events = await (
          await place.watch('leases', { ...streaming, resourceVersion: version })
        ).until(({ type }) => type === 'BOOKMARK')
        assert.equal(events.at(-1)?.object.metadata.annotations['k8s.io/initial-events-end'], 'true')
        if (version !== '0') assert.deepEqual(brief(events.slice(0, -1)), ['ADDED a'])
      }
    },
  },
  {
    id: 'server/watch/initial-events-selector',
    rule: 'A streaming list applies selectors.',
    async run(place) {
      for (const name of ['a', 'b']) await make(place, name)
      const events = await (await place.watch('leases', { ...streaming, fieldSelector: 'metadata.name=b' })).take(2)
      expectMatch(events, [{ type: 'ADDED', object: { metadata: { name: 'b' } } }, { type: 'BOOKMARK' }])
    },
  },
  {
    id: 'server/watch/initial-events-not-wanted',
    rule: 'With sendInitialEvents=false a watch sends only changes.',
    async run(place) {
      const resourceVersion = await make(place, 'a')
      const stream = await place.watch('leases', {
        sendInitialEvents: false,
        resourceVersionMatch: 'NotOlderThan',
        resourceVersion,
      })
      await make(place, 'b')
      assert.deepEqual(brief([await stream.next()]), ['ADDED b'])
    },
  },
  {
    id: 'server/watch/initial-events-rules',
    rule: 'sendInitialEvents requires resourceVersionMatch=NotOlderThan, and vice versa.',
    async run(place) {
      const refused = { code: 422, reason: 'Invalid', details: { group: 'meta.k8s.io', kind: 'ListOptions' } }
      expectStatus(await place.list('leases', { watch: true, sendInitialEvents: true }), {
        ...refused,
        message:
          /resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/,
      })
      expectStatus(
        await place.list('leases', {
          watch: true,
          sendInitialEvents: true,
          resourceVersion: 1,
          resourceVersionMatch: 'Exact',
        }),
        { ...refused, message: /Unsupported value: "Exact": supported values: "NotOlderThan"/ },
      )
      expectStatus(
        await place.list('leases', { watch: true, resourceVersion: 1, resourceVersionMatch: 'NotOlderThan' }),
        { ...refused, message: /resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided/ },
      )
    },
  },
  {
    id: 'server/watch/initial-events-too-new',
    rule: 'A streaming list of a resourceVersion in the future sends a Timeout with the cause ResourceVersionTooLarge.',
    async run(place) {
      const query = { ...streaming, resourceVersion: future, timeoutSeconds: 10 }
      const answer = await place.list('leases', { watch: true, ...query })
      const received = answer.text.startsWith('{"type"')
        ? (answer.json as unknown as { object: unknown }).object
        : answer.json
      expectMatch(received, {
        kind: 'Status',
        code: 504,
        reason: 'Timeout',
        details: { causes: [{ reason: 'ResourceVersionTooLarge' }] },
      })
    },
  },
]

const forms: readonly ServerCase[] = [
  {
    id: 'server/watch/table',
    rule: 'A watch as Table sends one row per event; only the first event has the columns.',
    async run(place) {
      const stream = await place.watch('leases', {}, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' })
      for (const name of ['a', 'b']) await make(place, name)
      ok(await place.delete('leases', 'a'))
      const events = await stream.take(3)
      expectMatch(events, [
        {
          type: 'ADDED',
          object: {
            kind: 'Table',
            apiVersion: 'meta.k8s.io/v1',
            metadata: { resourceVersion: /\d/ },
            columnDefinitions: (columns: unknown[]) => columns.length > 0,
            rows: [
              {
                cells: ['a', () => true, () => true],
                object: { kind: 'PartialObjectMetadata', metadata: { name: 'a' } },
              },
            ],
          },
        },
        {
          type: 'ADDED',
          object: {
            kind: 'Table',
            columnDefinitions: (columns: unknown) => columns === null || columns === undefined,
            rows: [{ cells: ['b', () => true, () => true] }],
          },
        },
        { type: 'DELETED', object: { kind: 'Table', rows: [{ cells: ['a', () => true, () => true] }] } },
      ])
    },
  },
  {
    id: 'server/watch/table-bookmark',
    rule: 'A bookmark of a watch as Table is a Table with one row whose object carries the resourceVersion and the annotation.',
    async run(place) {
      const stream = await place.watch('leases', streaming, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' })
      expectMatch(await stream.next(), {
        type: 'BOOKMARK',
        object: {
          kind: 'Table',
          metadata: { resourceVersion: /\d/ },
          rows: [{ object: { metadata: { resourceVersion: /\d/, annotations: ended } } }],
        },
      })
    },
  },
  {
    id: 'server/watch/metadata-only',
    rule: 'A watch as PartialObjectMetadata sends only metadata, in bookmarks too.',
    async run(place) {
      await make(place, 'a')
      const stream = await place.watch('leases', streaming, {
        accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
      })
      expectMatch(await stream.take(2), [
        {
          type: 'ADDED',
          object: {
            kind: 'PartialObjectMetadata',
            apiVersion: 'meta.k8s.io/v1',
            metadata: { name: 'a', uid: /./ },
            spec: undefined,
          },
        },
        { type: 'BOOKMARK', object: { kind: 'PartialObjectMetadata', metadata: { annotations: ended } } },
      ])
    },
  },
  {
    id: 'server/watch/yaml',
    rule: 'A watch cannot be encoded as YAML; the 406 can.',
    async run(place) {
      const answer = await place.list('leases', { watch: true, timeoutSeconds: 1 }, { accept: 'application/yaml' })
      assert.equal(answer.status, 406)
      assert.equal(answer.header('content-type'), 'application/yaml')
      assert.match(answer.text, /reason: NotAcceptable/)
      assert.match(answer.text, /application\/json;stream=watch,\s+application\/vnd\.kubernetes\.protobuf;stream=watch/)
    },
  },
  {
    id: 'server/watch/json-stream-parameter',
    rule: 'A watch can be requested with `stream=watch`.',
    async run(place) {
      await make(place, 'a')
      const stream = await place.watch('leases', {}, { accept: 'application/json;stream=watch' })
      assert.deepEqual(brief([await stream.next()]), ['ADDED a'])
    },
  },
]

export const watchEdgeCases: readonly ServerCase[] = [...time, ...bookmarks, ...streamingLists, ...forms]
