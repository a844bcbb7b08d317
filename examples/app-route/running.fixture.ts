/**
 * The program of this example on a test plane: real processes, a real router.
 */
import { createServer, request } from 'node:http'
import { onTestFinished } from 'vitest'
import { startTestPlane } from 'evenkeel/testing'
import type { TestPlane } from 'evenkeel/testing'
import { App, Route } from './kinds.ts'
import { appRoute } from './program.ts'

export const web = { name: 'web', namespace: 'default' }
export const shop = { name: 'shop', namespace: 'default' }

/** Responds with its argument and its pid. */
const program = `require('node:http').createServer((_, answer) => answer.end(process.env.WORD + ' ' + process.pid)).listen(process.env.PORT, '127.0.0.1')`
const command = `exec ${JSON.stringify(process.execPath)} -e ${JSON.stringify(program)}`

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  await new Promise((resolve) => {
    server.close(resolve)
  })
  return typeof address === 'object' && address ? address.port : 0
}

export interface Answer {
  readonly status: number
  readonly type: string
  readonly text: string
}

export interface Running {
  readonly plane: TestPlane
  /** The address of the router. */
  readonly url: string
  /** The response of the router for a hostname. */
  ask(hostname: string): Promise<Answer>
  pid(): Promise<number>
}

export async function start(): Promise<Running> {
  const { controllers, start: open, stop } = appRoute()
  const plane = await startTestPlane({ controllers })
  onTestFinished(async () => {
    await plane.stop()
    await stop()
  })
  if (!plane.manager) throw new Error('no manager runs')
  const { url } = await open(plane.manager, 0)
  const pid = async (): Promise<number> => (await plane.client.get(App, web)).status?.pid ?? 0
  return { plane, url, pid, ask: (hostname) => get(url, { host: hostname }) }
}

export function get(url: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers, agent: false }, (answer) => {
      let text = ''
      answer
        .setEncoding('utf8')
        .on('data', (piece: string) => {
          text += piece
        })
        .on('end', () => {
          resolve({ status: answer.statusCode ?? 0, type: answer.headers['content-type'] ?? '', text })
        })
    })
    asked.once('error', reject)
    asked.end()
  })
}

/** Creates an App and a Route to it, and waits until the router responds. */
export async function startShop(): Promise<Running> {
  const running = await start()
  const { plane, ask } = running
  await plane.client.create(Route, {
    metadata: shop,
    spec: { hostnames: ['shop.local'], targetRefs: [{ name: 'web' }] },
  })
  await plane.client.create(App, {
    metadata: web,
    spec: { command, port: await freePort(), config: { WORD: 'hello' } },
  })
  await plane.until(async () => (await ask('shop.local')).text.startsWith('hello'), { timeoutMs: 30_000 })
  return running
}
