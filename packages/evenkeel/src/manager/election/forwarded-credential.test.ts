import { expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import { bearer, type Credential } from '#client'
import { ForwardedCredential } from './forwarded-credential.ts'

function forwarded(first: Credential): { clock: SimulatedClock; asked: boolean[]; credential: ForwardedCredential } {
  const clock = new SimulatedClock()
  const asked: boolean[] = []
  const credential = new ForwardedCredential(first, { clock, ask: (refused) => asked.push(refused) })
  return { clock, asked, credential }
}

test('ForwardedCredential returns the last credential at once, and requests a fresh one every 10 s', async () => {
  const first = bearer('one')
  const { clock, asked, credential } = forwarded(first)
  expect(await credential.get()).toBe(first)
  expect(await credential.get()).toBe(first)
  expect(asked).toEqual([false])
  await clock.advance(9999)
  await credential.get()
  expect(asked).toEqual([false])
  await clock.advance(1)
  expect(await credential.get()).toBe(first)
  expect(asked).toEqual([false, false])
})

test('ForwardedCredential waits for another credential after the server refused the current one', async () => {
  const first = bearer('one')
  const { asked, credential } = forwarded(first)
  expect(credential.refuse(first)).toBe(true)
  expect(credential.refuse(first)).toBe(true)
  expect(asked).toEqual([true])
  const waiting = credential.get()
  const second = bearer('two')
  credential.receive(second)
  expect(await waiting).toBe(second)
  expect(await credential.get()).toBe(second)
  // The refusal of a request that used the old one.
  expect(credential.refuse(first)).toBe(true)
  expect(asked).toEqual([true, false])
})

test('ForwardedCredential: a wait ends with its signal', async () => {
  const first = bearer('one')
  const { credential } = forwarded(first)
  credential.refuse(first)
  const stopping = new AbortController()
  const waiting = credential.get(stopping)
  stopping.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
})

test.each<[string, Credential, boolean]>([
  ['an equal one', { authorization: 'a', certPem: 'c', keyPem: 'k' }, true],
  ['another token', { authorization: 'b', certPem: 'c', keyPem: 'k' }, false],
  ['another certificate', { authorization: 'a', certPem: 'd', keyPem: 'k' }, false],
  ['another key', { authorization: 'a', certPem: 'c', keyPem: 'l' }, false],
])('ForwardedCredential keeps the same object after it received %s: %j %s', async (_, received, isKept) => {
  const first: Credential = { authorization: 'a', certPem: 'c', keyPem: 'k' }
  const { credential } = forwarded(first)
  credential.receive(received)
  expect(await credential.get()).toBe(isKept ? first : received)
})
