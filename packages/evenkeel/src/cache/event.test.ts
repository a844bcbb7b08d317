import { expect, test } from 'vitest'
import { CacheEvent } from './event.ts'
import type { Widget } from './fake-server.fixture.ts'
import { Item } from './items.ts'
import { OwnWrites } from './own-writes.ts'

const ofVersion = (resourceVersion: string): Item<Widget> =>
  Item.ofObject({
    apiVersion: 'test.dev/v1',
    kind: 'Widget',
    metadata: { name: 'one', namespace: 'a', resourceVersion },
  })

test('CacheEvent is our own for an update that is exactly our write, never for a delete, a resync or a list', () => {
  const ownWrites = new OwnWrites()
  ownWrites.note({ namespace: 'a', name: 'one', from: '4', to: '5' })
  const context = { cluster: 'default', group: 'test.dev', kind: 'Widget', ownWrites }
  const facts = { item: ofVersion('5'), old: ofVersion('4') }
  expect(new CacheEvent(context, { type: 'update', ...facts }).isOwn).toBe(true)
  expect(new CacheEvent(context, { type: 'delete', ...facts }).isOwn).toBe(false)
  for (const mark of ['isListed', 'isInitial', 'isResync'])
    expect(new CacheEvent(context, { type: 'update', ...facts, [mark]: true }).isOwn, mark).toBe(false)
})
