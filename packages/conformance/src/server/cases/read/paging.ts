/**
 * limit and continue: one snapshot, returned in pages.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, namesOf, ok } from '../../expect.ts'
import { sample } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

async function five(place: Place): Promise<void> {
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    ok(
      await place.post(
        'leases',
        sample('leases', name, { metadata: { labels: { half: name < 'c' ? 'first' : 'second' } } }),
      ),
    )
}

/** All pages, each as its names, read to the end. */
async function pages(place: Place, query: Readonly<Record<string, string | number>>): Promise<string[]> {
  const collected: string[] = []
  for (let token: string | undefined = ''; token !== undefined;) {
    const list = ok(await place.list('leases', { ...query, ...(token !== '' && { continue: token }) }))
    collected.push(namesOf(list).join(' '))
    token = list.metadata.continue
  }
  return collected
}

const reading: readonly ServerCase[] = [
  {
    id: 'server/paging/to-the-end',
    rule: 'Pages have the requested size and together contain every object once, in order.',
    async run(place) {
      await five(place)
      assert.deepEqual(await pages(place, { limit: 2 }), ['a b', 'c d', 'e'])
      assert.deepEqual(await pages(place, { limit: 5 }), ['a b c d e'])
      assert.deepEqual(await pages(place, { limit: 0 }), ['a b c d e'])
    },
  },
  {
    id: 'server/paging/remaining',
    rule: 'A page has a remainingItemCount; the last page and pages with a selector have none.',
    async run(place) {
      await five(place)
      const first = ok(await place.list('leases', { limit: 2 }))
      expectMatch(first.metadata, { remainingItemCount: 3, continue: /./ })
      expectMatch(ok(await place.list('leases', { limit: 4, continue: first.metadata.continue })).metadata, {
        remainingItemCount: undefined,
        continue: undefined,
      })
      expectMatch(ok(await place.list('leases', { limit: 1, labelSelector: 'half=second' })).metadata, {
        remainingItemCount: undefined,
        continue: /./,
      })
      expectMatch(ok(await place.list('leases', { limit: 1, fieldSelector: 'metadata.name!=a' })).metadata, {
        remainingItemCount: undefined,
        continue: /./,
      })
    },
  },
  {
    id: 'server/paging/snapshot',
    rule: 'Later pages show the state of the first one, whatever is created, changed or deleted meanwhile.',
    async run(place) {
      await five(place)
      const first = ok(await place.list('leases', { limit: 2 }))
      ok(await place.post('leases', sample('leases', 'c5')))
      ok(await place.delete('leases', 'd'))
      ok(await place.patch('leases', 'e', { body: { spec: { holderIdentity: 'new' } } }))
      const rest = ok(await place.list('leases', { continue: first.metadata.continue }))
      assert.deepEqual(namesOf(rest), ['c', 'd', 'e'])
      assert.equal(rest.items[2]?.spec['holderIdentity'], undefined)
      assert.equal(rest.metadata.resourceVersion, first.metadata.resourceVersion)
    },
  },
  {
    id: 'server/paging/same-version',
    rule: 'All pages have the resourceVersion of the first one, so that a watch can start from it.',
    async run(place) {
      await five(place)
      const first = ok(await place.list('leases', { limit: 3 }))
      const rest = ok(await place.list('leases', { limit: 3, continue: first.metadata.continue }))
      const stream = await place.watch('leases', { resourceVersion: rest.metadata.resourceVersion })
      ok(await place.post('leases', sample('leases', 'f')))
      expectMatch(await stream.next(), { type: 'ADDED', object: { metadata: { name: 'f' } } })
    },
  },
  {
    id: 'server/paging/selector',
    rule: 'With a selector, pages are filled with matching objects.',
    async run(place) {
      await five(place)
      assert.deepEqual(await pages(place, { limit: 2, labelSelector: 'half=second' }), ['c d', 'e'])
      assert.deepEqual(await pages(place, { limit: 2, fieldSelector: 'metadata.name!=c' }), ['a b', 'd e'])
    },
  },
  {
    id: 'server/paging/zero-ignores-limit',
    rule: 'With resourceVersion=0 the server may ignore the limit, but no object is missing.',
    async run(place) {
      await five(place)
      assert.equal((await pages(place, { limit: 2, resourceVersion: 0 })).join(' '), 'a b c d e')
    },
  },
  {
    id: 'server/paging/changed-limit',
    rule: 'A later page may have another size.',
    async run(place) {
      await five(place)
      const first = ok(await place.list('leases', { limit: 1 }))
      assert.deepEqual(namesOf(ok(await place.list('leases', { limit: 3, continue: first.metadata.continue }))), [
        'b',
        'c',
        'd',
      ])
    },
  },
]

const refusals: readonly ServerCase[] = [
  {
    id: 'server/paging/continue-with-version',
    rule: 'A continue token and a resourceVersion other than 0 are mutually exclusive.',
    async run(place) {
      await five(place)
      const first = ok(await place.list('leases', { limit: 2 }))
      expectStatus(await place.list('leases', { continue: first.metadata.continue, resourceVersion: 5 }), {
        code: 400,
        reason: 'BadRequest',
        message: 'specifying resource version is not allowed when using continue',
      })
      assert.deepEqual(
        namesOf(ok(await place.list('leases', { continue: first.metadata.continue, resourceVersion: 0 }))),
        ['c', 'd', 'e'],
      )
    },
  },
  {
    id: 'server/paging/bad-token',
    rule: 'A continue token that the server did not issue is a bad request.',
    async run(place) {
      for (const token of ['garbage', '!', 'e30', Buffer.from('{"v":"x","rv":1,"start":"a"}').toString('base64url')]) {
        expectStatus(await place.list('leases', { continue: token }), {
          code: 400,
          reason: 'BadRequest',
          message: /^invalid continue token: continue key is not valid: /,
        })
      }
    },
  },
  {
    id: 'server/paging/token-stays-inside',
    rule: 'A forged continue token does not reach into another namespace or resource.',
    async run(place) {
      for (const start of ['../../', '../other/a']) {
        expectStatus(
          await place.list('leases', {
            continue: Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: 1, start })).toString('base64url'),
          }),
          { code: 400, reason: 'BadRequest', message: /^invalid continue token: continue key is not valid: / },
        )
      }
    },
  },
  {
    id: 'server/paging/bad-limit',
    rule: 'A limit that is not a number is a bad request; a negative limit means no limit.',
    async run(place) {
      expectStatus(await place.list('leases', { limit: 'many' }), {
        code: 400,
        reason: 'BadRequest',
        message: /strconv\.ParseInt: parsing "many": invalid syntax/,
      })
      await five(place)
      assert.equal(namesOf(ok(await place.list('leases', { limit: -1 }))).length, 5)
    },
  },
  {
    id: 'server/paging/expired',
    rule: 'If the state of the first page was compacted, the next page is a 410 with a token that continues at the newest state.',
    needs: ['compaction'],
    async run(place) {
      await five(place)
      const first = ok(await place.list('leases', { limit: 2 }))
      ok(await place.post('leases', sample('leases', 'c5')))
      await place.target.compact?.()
      const expired = expectStatus(await place.list('leases', { limit: 2, continue: first.metadata.continue }), {
        code: 410,
        reason: 'Expired',
        message:
          /^The provided continue parameter is too old to display a consistent list result\. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results\. Continuing with the provided token results in an inconsistent list/,
      })
      const rest = ok(await place.list('leases', { continue: expired.metadata.continue }), 200)
      assert.deepEqual(namesOf(rest), ['c', 'c5', 'd', 'e'])
      assert.ok(BigInt(rest.metadata.resourceVersion) > BigInt(first.metadata.resourceVersion))
    },
  },
]

export const pagingCases: readonly ServerCase[] = [...reading, ...refusals]
