import { expect, test } from 'vitest'
import { OwnWrites } from './own-writes.ts'

const own = { namespace: 'a', name: 'one' }

test('OwnWrites explains a chain of our writes, and nothing that another writer has a part in', () => {
  const writes = new OwnWrites()
  writes.note({ ...own, from: '', to: '5' })
  writes.note({ ...own, from: '5', to: '8' })
  writes.note({ ...own, from: '8', to: '9' })
  expect(writes.explains({ ...own, from: '5', to: '9' })).toBe(true)
  expect(writes.explains({ ...own, from: '', to: '9' })).toBe(true)
  expect(writes.explains({ ...own, from: '4', to: '9' })).toBe(false)
  expect(writes.explains({ ...own, from: '5', to: '10' })).toBe(false)
  expect(writes.explains({ ...own, name: 'two', from: '5', to: '9' })).toBe(false)
})

test('OwnWrites ignores a write that changed nothing', () => {
  const writes = new OwnWrites()
  writes.note({ ...own, from: '5', to: '5' })
  writes.note({ ...own, from: '5', to: '' })
  expect(writes.explains({ ...own, from: '5', to: '5' })).toBe(false)
  expect(writes.explains({ ...own, from: '5', to: '' })).toBe(false)
})

test('OwnWrites remembers the latest 4096 writes and forgets the oldest first', () => {
  const writes = new OwnWrites()
  for (let version = 1; version <= 4097; version++)
    writes.note({ ...own, from: String(version - 1), to: String(version) })
  expect(writes.explains({ ...own, from: '0', to: '1' })).toBe(false)
  expect(writes.explains({ ...own, from: '1', to: '2' })).toBe(true)
  expect(writes.explains({ ...own, from: '1', to: '4097' })).toBe(true)
})
