import { createServer, type Server } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { listenNear } from './net.ts'

const servers: Server[] = []
afterEach(async () => {
  await Promise.all(
    servers.splice(0).map(
      (server) =>
        new Promise((resolve) => {
          server.close(resolve)
        }),
    ),
  )
})

function server(): Server {
  const made = createServer()
  servers.push(made)
  return made
}

const at = { host: '127.0.0.1', protocol: 'http' } as const

test('F16: listenNear takes the given port, and a free one when it is taken', async () => {
  const first = await listenNear(server(), { ...at, port: 0 })
  const port = Number(new URL(first.url).port)
  const second = await listenNear(server(), { ...at, port })
  expect([first.isTaken, second.isTaken]).toEqual([false, true])
  expect(Number(new URL(second.url).port)).not.toBe(port)
  await new Promise((resolve) => {
    servers.shift()?.close(resolve)
  })
  expect(await listenNear(server(), { ...at, port })).toEqual({ url: first.url, isTaken: false })
})

test('listenNear does not hide another error', async () => {
  await expect(listenNear(server(), { ...at, host: '203.0.113.1', port: 0 })).rejects.toThrow('EADDRNOTAVAIL')
})
