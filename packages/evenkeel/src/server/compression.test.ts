import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { WireResponse } from '#wire'
import { compress } from './response.ts'

const large = Buffer.alloc(200_000, 'abc')
const respond = (body: WireResponse['body']): WireResponse => ({ status: 200, headers: {}, ...(body && { body }) })

async function bytesOf({ body }: WireResponse): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  if (body instanceof Uint8Array) pieces.push(body)
  else if (body) for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces)
}

test('compress packs what is large, whole or in pieces', async () => {
  const whole = await compress(respond(large), 'gzip')
  expect(whole.headers['content-encoding']).toBe('gzip')
  expect(gunzipSync(await bytesOf(whole)).equals(large)).toBe(true)
  const pieces = {
    async *[Symbol.asyncIterator]() {
      for (let at = 0; at < 4; at++) yield await Promise.resolve(large.subarray(at * 50_000, at * 50_000 + 50_000))
    },
  }
  expect(gunzipSync(await bytesOf(await compress(respond(pieces), 'br, gzip;q=0.5'))).equals(large)).toBe(true)
})

test.each([
  ['', large],
  ['gzip;q=0', large],
  ['br', large],
  ['gzip', Buffer.from('small')],
  ['gzip', undefined],
])('compress leaves alone what %j gets', async (accepted, body) => {
  const response = respond(body)
  expect(await compress(response, accepted)).toBe(response)
})

test('compress passes on the failure of a body', async () => {
  const failing = {
    async *[Symbol.asyncIterator]() {
      yield await Promise.resolve(large)
      throw new Error('cut')
    },
  }
  await expect(bytesOf(await compress(respond(failing), 'gzip'))).rejects.toThrow('cut')
})
