import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { metadataOnly, refTo } from 'evenkeel/client'
import type { Client, WatchEvent } from 'evenkeel/client'
import type { KubeObject } from 'evenkeel'
import { ConfigMap, Namespace, ways } from './own.fixture.ts'
import type { OwnTarget } from './own.fixture.ts'

describe.each(Object.entries(ways))('Client.watch %s', (_, open) => {
  let target: OwnTarget
  let client: Client
  let namespace = ''

  beforeAll(async () => {
    target = await open()
    client = target.client
    namespace = (await client.create(Namespace, { metadata: { generateName: 'watched-' } })).metadata.name
  })

  afterAll(() => target.stop())

  test('changes arrive in order, from a resourceVersion on', async () => {
    const {
      metadata: { resourceVersion = '' },
    } = await client.list(ConfigMap, { namespace })
    const stream = client.watch(ConfigMap, { namespace, resourceVersion })
    await stream.open()
    const made = await client.create(ConfigMap, {
      metadata: { name: 'a', namespace },
      data: { text: 'äöü€😀'.repeat(200) },
    })
    await client.patch(made, { data: { text: 'b' } })
    await client.delete(made)
    expect(await take(stream, 3)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a'])
    await stream.return()
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })

  test('with initial events, existing objects come first, then a bookmark, then changes', async () => {
    await client.create(ConfigMap, { metadata: { name: 'first', namespace } })
    const seen: string[] = []
    for await (const event of client.watch(ConfigMap, {
      namespace,
      sendInitialEvents: true,
      fieldSelector: 'metadata.name!=kube-root-ca.crt',
    })) {
      seen.push(describeEvent(event))
      if (event.type === 'BOOKMARK' && event.initialEventsEnd)
        await client.delete(refTo(ConfigMap, { name: 'first', namespace }))
      if (event.type === 'DELETED') break
    }
    expect(seen).toEqual(['ADDED first', 'BOOKMARK end', 'DELETED first'])
  })

  test('metadata only, with the type of the object', async () => {
    const stream = client.watch(metadataOnly(ConfigMap), {
      namespace,
      resourceVersion: (await client.list(ConfigMap)).metadata.resourceVersion ?? '',
    })
    await stream.open()
    await client.create(ConfigMap, { metadata: { name: 'slim', namespace }, data: { a: '1' } })
    const { value } = await stream.next()
    expect(value).toMatchObject({
      type: 'ADDED',
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'slim' } },
    })
    expect(value && 'object' in value && value.object).not.toHaveProperty('data')
    await stream.return()
  })

  test('a compacted resourceVersion fails with Expired (66, 67)', async ({ skip }) => {
    if (!target.canCompact) return skip()
    const {
      metadata: { resourceVersion = '' },
    } = await client.list(ConfigMap)
    await client.create(ConfigMap, { metadata: { name: 'newer', namespace } })
    await client.patch(refTo(ConfigMap, { name: 'newer', namespace }), { data: { a: '1' } })
    await target.compact()
    const outcome = await client
      .watch(ConfigMap, { resourceVersion })
      .next()
      .then(
        ({ value }) => (value && 'error' in value ? value.error : value),
        (error: unknown) => error,
      )
    expect(outcome).toMatchObject({ reason: 'Expired', code: 410 })
  })

  test('the signal ends the watch with its reason, even while it waits', async () => {
    const stop = new AbortController()
    const stream = client.watch(ConfigMap, {
      namespace: 'empty',
      resourceVersion: (await client.list(ConfigMap)).metadata.resourceVersion ?? '',
      signal: stop.signal,
    })
    await stream.open()
    const next = stream.next()
    stop.abort(new Error('enough'))
    await expect(next).rejects.toThrow('enough')
  })

  test('the server ends the watch after the requested timeout, which is a clean end', async () => {
    const seen: string[] = []
    for await (const event of client.watch(ConfigMap, {
      namespace: 'empty',
      timeoutSeconds: 1,
      allowWatchBookmarks: false,
    }))
      seen.push(describeEvent(event))
    expect(seen).toEqual([])
  })
})

async function take<T extends KubeObject>(stream: AsyncIterator<WatchEvent<T>>, count: number): Promise<string[]> {
  const seen: string[] = []
  while (seen.length < count) {
    const { done, value } = await stream.next()
    if (done) break
    if (value.type !== 'BOOKMARK') seen.push(describeEvent(value))
  }
  return seen
}

function describeEvent<T extends KubeObject>(event: WatchEvent<T>): string {
  if (event.type === 'ERROR') return `ERROR ${event.error.reason}`
  if (event.type === 'BOOKMARK') return event.initialEventsEnd ? 'BOOKMARK end' : 'BOOKMARK'
  return `${event.type} ${event.object.metadata.name ?? ''}`
}
