/**
 * resourceVersion and resourceVersionMatch: the allowed age of a response.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, namesOf, ok } from '../../expect.ts'
import { configMap, sample } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

/** Far above any resourceVersion, and still a number the server can parse. */
const future = '900000000000000'

const tooLarge = {
  code: 504,
  reason: 'Timeout',
  message: new RegExp(`^Timeout: Too large resource version: ${future}, current: \\d+$`),
  details: {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  },
}

/** Creates a, then b, then c; returns the resourceVersion of the list after each. */
async function grown(place: Place): Promise<string[]> {
  const versions: string[] = []
  for (const name of ['a', 'b', 'c']) {
    ok(await place.post('leases', sample('leases', name)))
    versions.push(ok(await place.list('leases')).metadata.resourceVersion)
  }
  return versions
}

const newest = 'a b c'

/** Query (`{1}` is the resourceVersion after the second object) and the expected names. */
const combinations: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
  ['unset', {}, newest],
  ['zero', { resourceVersion: '0' }, newest],
  ['old', { resourceVersion: '{1}' }, newest],
  ['not-older-than', { resourceVersion: '{1}', resourceVersionMatch: 'NotOlderThan' }, newest],
  ['not-older-than-zero', { resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' }, newest],
  ['exact', { resourceVersion: '{1}', resourceVersionMatch: 'Exact' }, 'a b'],
  ['exact-newest', { resourceVersion: '{2}', resourceVersionMatch: 'Exact' }, newest],
  ['limit', { limit: '2' }, 'a b'],
  ['limit-old', { resourceVersion: '{0}', limit: '2' }, 'a'],
  ['limit-exact', { resourceVersion: '{0}', resourceVersionMatch: 'Exact', limit: '2' }, 'a'],
  ['limit-not-older-than', { resourceVersion: '{0}', resourceVersionMatch: 'NotOlderThan', limit: '9' }, newest],
]

const table = combinations.map(([id, query, expected]): ServerCase => ({
  id: `server/versions/list-${id}`,
  rule: `A list with ${JSON.stringify(query).replaceAll('"', '')} returns ${expected === newest ? 'the newest state' : expected === 'a b' && id === 'limit' ? 'the first page of the newest state' : 'exactly the state at that version'}.`,
  async run(place) {
    const versions = await grown(place)
    const filled = Object.fromEntries(
      Object.entries(query).map(([key, value]) => [
        key,
        value.replace(/\{(\d)\}/, (_, index: string) => versions[Number(index)] ?? ''),
      ]),
    )
    const list = ok(await place.list('leases', filled), 200)
    assert.equal(namesOf(list).join(' '), expected)
    const isExact =
      query['resourceVersionMatch'] === 'Exact' ||
      (query['limit'] !== undefined &&
        query['resourceVersion'] !== undefined &&
        query['resourceVersionMatch'] === undefined)
    if (isExact) assert.equal(list.metadata.resourceVersion, filled['resourceVersion'])
    else assert.ok(BigInt(list.metadata.resourceVersion) >= BigInt(filled['resourceVersion'] ?? '0'))
  },
}))

/** Query, field and message. */
const invalid: readonly (readonly [string, Readonly<Record<string, string>>, string, string])[] = [
  [
    'match-without-version',
    { resourceVersionMatch: 'Exact' },
    'resourceVersionMatch',
    'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
  ],
  [
    'exact-zero',
    { resourceVersion: '0', resourceVersionMatch: 'Exact' },
    'resourceVersionMatch',
    'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
  ],
  [
    'match-with-continue',
    { resourceVersion: '1', resourceVersionMatch: 'NotOlderThan', continue: 'x' },
    'resourceVersionMatch',
    'Forbidden: resourceVersionMatch is forbidden when continue is provided',
  ],
  [
    'unknown-match',
    { resourceVersion: '1', resourceVersionMatch: 'Newer' },
    'resourceVersionMatch',
    'Unsupported value: "Newer": supported values: "Exact", "NotOlderThan", ""',
  ],
  [
    'initial-events',
    { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' },
    'sendInitialEvents',
    'Forbidden: sendInitialEvents is forbidden for list',
  ],
]

const refusals = invalid.map(([id, query, field, message]): ServerCase => ({
  id: `server/versions/${id}`,
  rule: `A list with ${JSON.stringify(query).replaceAll('"', '')} is rejected.`,
  async run(place) {
    const { details } = expectStatus(await place.list('leases', query), {
      code: 422,
      reason: 'Invalid',
      details: { group: 'meta.k8s.io', kind: 'ListOptions' },
    }) as unknown as { details: { causes: { field: string; message: string }[] } }
    assert.ok(
      details.causes.some((cause) => cause.field === field && cause.message === message),
      JSON.stringify(details.causes),
    )
  },
}))

const single: readonly ServerCase[] = [
  {
    id: 'server/versions/get',
    rule: 'A read with a resourceVersion returns a state that is not older: for 0, for an old one, for the newest.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a')))
      const next = ok(await place.patch('configmaps', 'a', { body: { data: { k: '1' } } }))
      for (const resourceVersion of [made.metadata.resourceVersion, next.metadata.resourceVersion]) {
        assert.ok(
          BigInt(ok(await place.get('configmaps', 'a', { query: { resourceVersion } })).metadata.resourceVersion) >=
            BigInt(resourceVersion),
        )
      }
    },
  },
  {
    id: 'server/versions/get-too-new',
    rule: 'A read of a resourceVersion in the future times out with a 504 that names the version.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectStatus(await place.get('configmaps', 'a', { query: { resourceVersion: future } }), tooLarge)
    },
  },
  {
    id: 'server/versions/list-too-new',
    rule: 'A list of a resourceVersion in the future times out with a 504 that names the version and when to retry.',
    async run(place) {
      const answer = await place.list('leases', { resourceVersion: future })
      expectStatus(answer, tooLarge)
      assert.equal(answer.header('retry-after'), '1')
    },
  },
  {
    id: 'server/versions/exact-too-new',
    rule: 'An exact list of a resourceVersion in the future times out with a 504.',
    async run(place) {
      expectStatus(await place.list('leases', { resourceVersion: future, resourceVersionMatch: 'Exact' }), {
        code: 504,
        reason: 'Timeout',
      })
    },
  },
  {
    id: 'server/versions/unreadable',
    rule: 'A resourceVersion that is not a number is rejected, for a read and for a list.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      for (const answer of [
        await place.get('configmaps', 'a', { query: { resourceVersion: 'abc' } }),
        await place.list('configmaps', { resourceVersion: 'abc' }),
      ]) {
        assert.ok(answer.status >= 400, String(answer))
        expectMatch(answer.json, { kind: 'Status', message: /resource version|resourceVersion/i })
      }
    },
  },
  {
    id: 'server/versions/decimal',
    rule: 'A resourceVersion is a decimal number without a leading zero and increases with every write of any object.',
    async run(place) {
      let last = 0n
      for (const [resource, name] of [
        ['configmaps', 'a'],
        ['leases', 'a'],
        ['secrets', 'a'],
        ['configmaps', 'b'],
      ] as const) {
        const {
          metadata: { resourceVersion },
        } = ok(await place.post(resource, sample(resource, name)))
        assert.match(resourceVersion, /^[1-9]\d*$/)
        assert.ok(BigInt(resourceVersion) > last)
        last = BigInt(resourceVersion)
      }
    },
  },
  {
    id: 'server/versions/compacted-exact',
    rule: 'An exact list of a compacted resourceVersion is a 410 Expired.',
    needs: ['compaction'],
    async run(place) {
      const [first = ''] = await grown(place)
      await place.target.compact?.()
      expectStatus(await place.list('leases', { resourceVersion: first, resourceVersionMatch: 'Exact' }), {
        code: 410,
        reason: 'Expired',
        message: 'The resourceVersion for the provided list is too old.',
      })
    },
  },
]

export const versionCases: readonly ServerCase[] = [...table, ...refusals, ...single]
