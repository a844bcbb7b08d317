import type { KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { SimulatedClock } from 'evenkeel/unstable/base'
import { expect, test } from 'vitest'
import { watchObjects } from './object-watch.ts'

function object(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }
}

/** Lists grow by one object, and every watch ends as scripted. */
function clientOf(
  watches: readonly (readonly object[])[],
): Pick<Client, 'list' | 'watch'> & { readonly from: string[] } {
  const from: string[] = []
  return {
    from,
    list: () => Promise.resolve({ items: [object('a')], metadata: { resourceVersion: String(10 + from.length) } }),
    watch: (_: unknown, { resourceVersion = '' }: { resourceVersion?: string }) => {
      const events = watches[from.length] ?? []
      from.push(resourceVersion)
      return (async function* () {
        yield* events
      })()
    },
  } as never
}

const options = { signal: new AbortController().signal, clock: new SimulatedClock() }

test('F16: a watch that ends, or whose version expired, continues with a new list after a pause', async () => {
  const clock = new SimulatedClock()
  const client = clientOf([
    [{ type: 'ADDED', object: object('b') }],
    [
      { type: 'BOOKMARK', resourceVersion: '12' },
      { type: 'ERROR', error: { reason: 'Expired' } },
    ],
  ])
  const seen: string[] = []
  const reading = (async () => {
    for await (const change of watchObjects(client, object('x'), { ...options, clock })) {
      seen.push(change.type)
      if (seen.length === 4) break
    }
  })()
  await clock.advance(1000)
  expect(client.from).toEqual(['10', '11'])
  await clock.advance(1000)
  await reading
  expect(seen).toEqual(['LISTED', 'ADDED', 'LISTED', 'LISTED'])
})

test('F16: another error of the server ends the watch', async () => {
  const client = clientOf([[{ type: 'ERROR', error: new Error('forbidden') }]])
  const changes = watchObjects(client, object('x'), options)
  await changes.next()
  await expect(changes.next()).rejects.toThrow('forbidden')
})
