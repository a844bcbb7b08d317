import { expect, test } from 'vitest'
import type { UnstructuredObject } from '#api'
import { deferred } from '#base'
import { FollowedObject } from './followed-object.ts'

const objectOf = (state: string) => ({ metadata: { name: 'a' }, state }) as unknown as UnstructuredObject
const stateOf = (object: UnstructuredObject): unknown => object['state']

/** An object whose changes a test makes. */
function followed(signal = new AbortController().signal) {
  let next = deferred<string | undefined>()
  const failures: unknown[] = []
  const object = new FollowedObject(
    {
      object: objectOf('new'),
      signal,
      async *changes() {
        for (;;) {
          const state = await next.promise
          next = deferred()
          if (state === undefined) return
          if (state === 'fail') throw new Error('lost')
          yield objectOf(state)
        }
      },
    },
    { onFailure: (error) => failures.push(error) },
  )
  return {
    object,
    failures,
    change: async (state: string | undefined) => {
      const changed = object.changed()
      next.resolve(state)
      await changed
    },
  }
}

test('FollowedObject waits until the object is as wanted', async () => {
  const { object, change } = followed()
  const found = object.until(stateOf, (state) => state === 'ready')
  await change('starting')
  await change('ready')
  expect(await found).toBe('ready')
  expect(object.isGone).toBe(false)
})

test('FollowedObject ends with the object: with its last state', async () => {
  const { object, change } = followed()
  const found = object.until(stateOf, () => false)
  await change('starting')
  await change(undefined)
  expect([await found, object.isGone]).toEqual(['starting', true])
  await object.changed()
})

test('FollowedObject counts as gone when it cannot be followed, and when the client has left', async () => {
  const lost = followed()
  await lost.change('fail')
  expect([lost.object.isGone, String(lost.failures[0])]).toEqual([true, 'Error: lost'])
  const leaving = new AbortController()
  const { object, failures } = followed(leaving.signal)
  const found = object.until(stateOf, () => false)
  leaving.abort()
  expect([await found, failures]).toEqual(['new', []])
})
