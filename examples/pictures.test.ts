/**
 * Takes the pictures of the docs: SCREENSHOTS=1 npx vitest run examples/pictures.test.ts
 *
 * Every page at 1440 and 360 pixels, light and dark.
 */
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Manager } from 'evenkeel/controller'
import { deferred } from 'evenkeel/unstable/base'
import { App, Route } from './app-route/kinds.ts'
import { freePort, shop, start, web } from './app-route/running.fixture.ts'
import { Browser, findBrowser } from './browser.fixture.ts'
import type { OpenPage } from './browser.fixture.ts'
import { smallerPng } from './png.fixture.ts'
import { startDemo } from './shapes/running.fixture.ts'
import type { RunningDemo } from './shapes/running.fixture.ts'

const path = process.env['SCREENSHOTS'] === '1' ? findBrowser() : undefined
const folder = fileURLToPath(new URL('../docs/pictures/', import.meta.url))
const bytesMax = 120_000
const wide = { width: 1440, height: 900 }
const narrow = { width: 360, height: 740 }

describe.skipIf(path === undefined)('the pictures', () => {
  let browser: Browser
  beforeAll(() => {
    browser = new Browser(path ?? '')
  })
  afterAll(() => browser.close())

  /** Takes a picture of the whole page. */
  const keep = async (page: OpenPage, name: string): Promise<void> => {
    const file = `${folder}${name}.png`
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, smallerPng(await page.screenshot({ isWhole: true })))
    expect(statSync(file).size, name).toBeLessThan(bytesMax)
  }

  /** All four forms: wide, wide-dark, phone and phone-dark. */
  const keepForms = async (page: OpenPage, topic: string): Promise<void> => {
    for (const [name, { width, height }] of Object.entries({ wide, phone: narrow })) {
      await page.size(width, height)
      for (const scheme of ['light', 'dark'] as const) {
        await page.prefer(scheme)
        await keep(page, `${topic}/${name}${scheme === 'dark' ? '-dark' : ''}`)
      }
    }
    await page.prefer('light')
    await page.size(wide.width, wide.height)
  }

  /** Plays the flaw of a step to its end. */
  const play = async ({ demo, state }: RunningDemo, page: OpenPage, number: number): Promise<void> => {
    await demo.choose(number)
    await page.until(`document.getElementById('title').innerText.startsWith('Step ${number}:')`)
    await page.evaluate('document.body.dataset.pace = "0"')
    await page.click('#show')
    const { show } = (await state()).step
    await page.until(`document.getElementById('playing').innerText === ${JSON.stringify(show.at(-1)?.seen)}`)
  }

  test('shapes', async () => {
    const running = await startDemo()
    onTestFinished(() => running.stop())
    const { demo, press, until } = running
    const page = await browser.open(running.url, wide)
    await play(running, page, 1)
    await keepForms(page, 'shapes')
    // Both shapes of step 1 stay when step 3 misses the deletion of their object.
    await demo.choose(3)
    await press('miss-deletion')
    await page.until(`document.getElementById('objects').innerText.includes('No objects.')`)
    await keep(page, 'shapes/leak')
    await press('start-over')
    await demo.choose(7)
    await press('create')
    await until(
      ({ objects }) =>
        objects[0]?.conditions.some(({ type, status }) => type === 'Synced' && status === 'True') ?? false,
    )
    for (const name of ['recolor-by-hand', 'remove-by-hand']) {
      await press(name)
      await until(
        ({ shapes, objects }) =>
          shapes.length === 1 && shapes[0]?.color === 'purple' && objects[0]?.id === shapes[0].id,
      )
    }
    const [shape] = running.service.shapes.keys()
    await page.until(`document.getElementById('objects').innerText.includes('id: ${shape}')`)
    await keep(page, 'shapes/drift')
  }, 120_000)

  test('router', async () => {
    const { plane, url } = await start()
    const page = await browser.open(url, wide)
    await keep(page, 'router/empty')
    await plane.client.create(Route, {
      metadata: shop,
      spec: { hostnames: ['shop.localhost'], targetRefs: [{ name: 'web' }] },
    })
    await plane.client.create(Route, {
      metadata: { ...shop, name: 'docs' },
      spec: { hostnames: ['docs.localhost', 'manual.example.com'], targetRefs: [{ name: 'pages' }] },
    })
    await plane.client.create(App, { metadata: web, spec: { command: 'exec sleep 600', port: await freePort() } })
    await page.until(`document.querySelectorAll('.state.ok').length === 3`)
    await keepForms(page, 'router')
  }, 60_000)

  test('endpoints', async () => {
    const { plane } = await start()
    const listening = deferred<string>()
    const stop = new AbortController()
    const manager = new Manager({
      name: 'pictures',
      transport: plane.plane.transport,
      leaderElection: false,
      endpoints: { port: 0, onListening: listening.resolve },
    })
    const ran = manager.run(stop.signal)
    onTestFinished(async () => {
      stop.abort()
      await ran
    })
    const page = await browser.open(await listening.promise, wide)
    await keepForms(page, 'endpoints')
  }, 60_000)
})
