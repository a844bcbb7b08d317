import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { metadataOnly } from 'evenkeel/client'
import { nextTurn, SystemClock } from 'evenkeel/unstable/base'
import { ObjectCache, pick } from 'evenkeel/unstable/cache'
import { Namespace, Website, websiteDefinition, ways } from './own.fixture.ts'
import type { OwnTarget } from './own.fixture.ts'

describe.each(Object.entries(ways))('ObjectCache %s', (_, open) => {
  let target: OwnTarget
  let cache: ObjectCache
  const stop = new AbortController()
  let running: Promise<void>
  const namespace = 'cached'

  beforeAll(async () => {
    target = await open({
      afterWrite: (write, object) => {
        cache.afterWrite(write, object)
      },
    })
    cache = new ObjectCache({ client: target.client })
    running = cache.run(stop.signal)
    await target.client.create(Namespace, { metadata: { name: namespace } })
  })

  afterAll(async () => {
    stop.abort()
    await running
    await target.stop()
  })

  test('waits for a kind that is installed later; reads include own writes, and the watch agrees', async () => {
    const { client } = target
    const holding = cache.getInformer(Website)
    const events: string[] = []
    holding.addHandler((event) => {
      events.push(`${event.type} ${event.key.name}`)
    })
    while (holding.states['']?.phase !== 'parked') await turn()
    await client.create(websiteDefinition)
    while (!holding.hasSynced) {
      cache.wake(Website)
      await turn()
    }
    const made = await client.create(Website, {
      metadata: { name: 'front', namespace, labels: { app: 'web' } },
      spec: { image: 'a', replicas: 2 },
    })
    expect(cache.get(Website, { name: 'front', namespace }).metadata.resourceVersion).toBe(
      made.metadata.resourceVersion,
    )
    const changed = await client.patch(made, { spec: { image: 'b' } })
    expect(cache.list(Website, { labelSelector: 'app=web' }).map(({ spec }) => spec.image)).toEqual(['b'])
    await cache.waitForVersion(Website, changed.metadata.resourceVersion)
    while (cache.states.some(({ ahead }) => ahead > 0)) await turn()
    const last = await client.list(Website, { namespace })
    expect(cache.get(Website, { name: 'front', namespace }).metadata.managedFields).toBeUndefined()
    expect(cache.list(Website).map(({ metadata: { resourceVersion } }) => resourceVersion)).toEqual(
      last.items.map(({ metadata: { resourceVersion } }) => resourceVersion),
    )
    expect(events.every((text) => text === 'add front' || text === 'update front')).toBe(true)
    await holding.release()
  })

  test('a hundred objects are equal by stream, list, metadata and fields, before and after compaction', async () => {
    const { client } = target
    await Promise.all(
      Array.from({ length: 100 }, (__, index) =>
        client.create(Website, { metadata: { name: `site-${index}`, namespace }, spec: { image: `ä-${index}` } }),
      ),
    )
    const Slim = pick(Website, ['spec.image'])
    const Meta = metadataOnly(Website)
    const held = [
      cache.getInformer(Website, { namespaces: [namespace], streaming: false }),
      cache.getInformer(Slim),
      cache.getInformer(Meta, { keepManagedFields: true }),
    ]
    await cache.waitForSync()
    await target.compact?.()
    const { items, metadata } = await client.list(Website, { namespace })
    for (const kind of [Website, Slim, Meta])
      await cache.waitForVersion(
        kind,
        items.map(({ metadata: { resourceVersion } }) => resourceVersion).sort((a, b) => Number(b) - Number(a))[0] ??
          metadata.resourceVersion ??
          '',
      )
    const expected = items.map(({ metadata: { name }, spec: { image } }) => `${name} ${image}`).sort()
    expect(
      cache
        .list(Website, { namespace })
        .map(({ metadata: { name }, spec: { image } }) => `${name} ${image}`)
        .sort(),
    ).toEqual(expected)
    expect(
      cache
        .list(Slim, { namespace })
        .map(({ metadata: { name }, spec: { image } }) => `${name} ${image}`)
        .sort(),
    ).toEqual(expected)
    expect(cache.list(Meta, { namespace })).toHaveLength(items.length)
    expect(cache.list(Meta, { namespace })[0]?.metadata.managedFields).toBeDefined()
    for (const holding of held) await holding.release()
  })
})

/** Gives sockets and timers a turn. */
function turn(): Promise<void> {
  return nextTurn(new SystemClock())
}
