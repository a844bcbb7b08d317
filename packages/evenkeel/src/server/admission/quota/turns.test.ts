import { expect, test } from 'vitest'
import { deferred } from '#base'
import { Turns } from './turns.ts'

test('Turns.take runs one at a time for a key, in order, and others at once', async () => {
  const turns = new Turns()
  const seen: string[] = []
  const gate = deferred<undefined>()
  const first = turns.take('a', async () => {
    await gate.promise
    seen.push('a1')
  })
  const second = turns.take('a', () => Promise.resolve(seen.push('a2')))
  await turns.take('b', () => Promise.resolve(seen.push('b1')))
  gate.resolve(undefined)
  await Promise.all([first, second])
  expect(seen).toEqual(['b1', 'a1', 'a2'])
})

test('Turns.take goes on after one that failed', async () => {
  const turns = new Turns()
  const failed = turns.take('a', () => Promise.reject(new Error('no')))
  const next = turns.take('a', () => Promise.resolve('yes'))
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('yes')
})
