import { expect, test } from 'vitest'
import { Query } from '#wire'
import { answerHealth } from './non-resource-paths.ts'

const well = { name: 'ping', failure: () => undefined }
const ill = { name: 'store', failure: () => 'the disk /secret is gone' }
const late = { name: 'late', readyOnly: true, failure: () => 'not yet' }
const ask = async (path: string, query = '', checks = [well, ill]): Promise<unknown> => {
  const answer = await answerHealth(path, new Query(query), checks)
  return answer && [answer.status, Buffer.from(answer.body as Uint8Array).toString()]
}

test.each([
  ['/healthz', '', [well], [200, 'ok']],
  ['/readyz', 'verbose', [well], [200, '[+]ping ok\nreadyz check passed\n']],
  ['/readyz', '', [well, ill], [500, '[+]ping ok\n[-]store failed: reason withheld\nreadyz check failed\n']],
  ['/readyz', 'exclude=store', [well, ill], [200, 'ok']],
  ['/livez', 'verbose&exclude=store', [well, ill], [200, '[+]ping ok\n[+]store excluded: ok\nlivez check passed\n']],
  [
    '/healthz',
    'verbose&exclude=nope',
    [well],
    [200, '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "nope"\nhealthz check passed\n'],
  ],
  ['/livez', '', [well, late], [200, 'ok']],
  ['/readyz/ping', '', [well, ill], [200, 'ok']],
  ['/readyz/store', '', [well, ill], [500, 'internal server error: store check failed\n']],
  ['/readyz/nope', '', [well], undefined],
  ['/readyz/ping/more', '', [well], undefined],
  ['/health', '', [well], undefined],
])('answerHealth of %s?%s', async (...[path, query, checks, expected]) => {
  expect(await ask(path, query, checks as never)).toEqual(expected)
})
