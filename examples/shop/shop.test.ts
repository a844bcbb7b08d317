/** The shop with real processes, run from the folder above it: from the command to an order that was sent, a restart under way, and nothing left. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { systemTable } from '@evenkeel/workloads'
import { sourceArguments } from '../../tools/run.mjs'

const [command = '', here = '', modules = ''] = ['./evenkeel.fixture.ts', '.', '../../node_modules'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

interface Event {
  readonly event: string
  readonly name?: string
  readonly line?: string
  readonly phase?: string
  readonly run?: number
  readonly exitCode?: number
  readonly addresses?: readonly string[]
}

interface Order {
  readonly item: string
  readonly state: string
}

/** The shop in a folder of its own, run from the folder above it, and what it says. */
function startShop() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'evenkeel-shop-')))
  cpSync(here, join(folder, 'shop'), { recursive: true, filter: (path) => basename(path) !== 'data' })
  symlinkSync(modules, join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const evenkeel = (...words: readonly string[]) =>
    spawn(process.execPath, [...sourceArguments(command), ...words], {
      cwd: folder,
      // No container runtime: tests take nothing from a registry.
      env: { ...process.env, HOME: folder, DOCKER_HOST: `unix://${folder}/none.sock`, CONTAINER_HOST: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  const child = evenkeel('run', 'shop/app.ts', '--json', '--memory')
  let text = ''
  const waiting = new Set<() => void>()
  const hear = (piece: Buffer): void => {
    text += piece.toString()
    for (const look of waiting) look()
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const ended = once(child, 'close').then(() => {
    for (const look of waiting) look()
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  const events = (): readonly Event[] =>
    text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Event] : []))
  return {
    child,
    folder,
    ended,
    evenkeel,
    events,
    output: () => text,
    until: (condition: (events: readonly Event[]) => boolean): Promise<void> =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (condition(events())) resolve()
          else if (child.exitCode !== null) reject(new Error(`the shop has ended:\n${text}`))
          else return
          waiting.delete(look)
        }
        waiting.add(look)
        look()
      }),
  }
}

/** A connection for each request: one that is open ends with the API. */
const headers = { connection: 'close' }

const orders = async (url: string): Promise<readonly Order[]> =>
  (await (await fetch(`${url}/orders`, { headers })).json()) as Order[]

test('the shop takes an order while its API is restarted, sends it, and leaves nothing', async () => {
  const shop = startShop()
  await shop.until((events) => events.some(({ event, line }) => event === 'log' && line === 'worker: ready'))
  await shop.until((events) => events.some(({ event, line }) => event === 'log' && line?.startsWith('web: ') === true))
  const addressOf = (name: string): string | undefined =>
    shop
      .events()
      .findLast((one) => one.event === 'workload' && one.name === name && (one.addresses?.length ?? 0) > 0)
      ?.addresses?.find((address) => address.startsWith('http'))
  await shop.until(() => addressOf('orders') !== undefined)
  expect(shop.output()).toContain('shop: the container visits is left out, the page shows no visits: no container')
  expect(existsSync(join(shop.folder, 'shop/data/shop.json'))).toBe(true)
  const api = addressOf('orders') ?? ''
  expect(await orders(api)).toMatchObject([{ item: 'a lamp' }])
  const restarted = once(shop.evenkeel('restart', 'process/api'), 'close')
  await shop.until((events) => events.some(({ name, phase }) => name === 'api' && phase === 'Stopping'))
  const placed = await fetch(`${api}/orders`, { method: 'POST', headers, body: '{"item":"a chair"}' })
  expect([placed.status, await placed.json()]).toEqual([201, { item: 'a chair', state: 'paid', id: 2 }])
  expect(await restarted).toEqual([0, null])
  expect(shop.events().some(({ name, run }) => name === 'api' && run === 2)).toBe(true)
  await shop.until((events) => events.some(({ line }) => line === 'worker: order 2 was sent'))
  expect(await orders(api)).toMatchObject([{ state: 'sent' }, { state: 'sent' }])
  shop.child.kill('SIGTERM')
  await shop.ended
  expect(shop.events().at(-1)).toEqual({ event: 'ended', exitCode: 0 })
  const left = await systemTable().list(0, () => Promise.resolve())
  expect(left.filter(({ command: words }) => words.includes('programs/') && words.includes('.mjs'))).toEqual([])
})
