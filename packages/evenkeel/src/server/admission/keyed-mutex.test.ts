import { expect, test } from 'vitest'
import { deferred } from '#base'
import { KeyedMutex } from './resource-quota.ts'

test('Turns.take runs one at a time for a key, in order, and others at once', async () => {
  const turns = new KeyedMutex()
  const seen: string[] = []
  const gate = deferred<undefined>()
  const first = turns.runExclusive('a', async () => {
    await gate.promise
    seen.push('a1')
  })
  const second = turns.runExclusive('a', () => Promise.resolve(seen.push('a2')))
  await turns.runExclusive('b', () => Promise.resolve(seen.push('b1')))
  gate.resolve(undefined)
  await Promise.all([first, second])
  expect(seen).toEqual(['b1', 'a1', 'a2'])
})

test('Turns.take goes on after one that failed', async () => {
  const turns = new KeyedMutex()
  const failed = turns.runExclusive('a', () => Promise.reject(new Error('no')))
  const next = turns.runExclusive('a', () => Promise.resolve('yes'))
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('yes')
})

test('KeyedMutex makes a third call wait for the second when the first has ended', async () => {
  const turns = new KeyedMutex()
  const seen: string[] = []
  const gate = deferred<undefined>()
  const first = turns.runExclusive('a', () => Promise.resolve(seen.push('first')))
  const second = turns.runExclusive('a', async () => {
    await gate.promise
    seen.push('second')
  })
  await first
  const third = turns.runExclusive('a', () => Promise.resolve(seen.push('third')))
  gate.resolve(undefined)
  await Promise.all([second, third])
  expect(seen).toEqual(['first', 'second', 'third'])
})
