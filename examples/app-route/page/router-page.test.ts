/** The page at the address of the router: who gets it, what it shows, and that it changes no routing. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Browser, findBrowser } from '../../browser.fixture.ts'
import { App, Route } from '../kinds.ts'
import { appRoute } from '../program.ts'
import { freePort, get, shop, start, startShop, web } from '../running.fixture.ts'

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('F14: a browser gets a page at the address of the router, other clients 503 with a clear text', async () => {
  const { url } = await start()
  const page = await get(url, html)
  expect([page.status, page.type]).toEqual([200, 'text/html; charset=utf-8'])
  expect(page.text).toContain('<h3>Routes</h3>')
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
    const refused = await get(url, headers)
    expect([refused.status, refused.type]).toEqual([503, 'text/plain; charset=utf-8'])
    expect(refused.text).toBe('no ready Route has the hostname "127.0.0.1"; list them with: npx evenkeel get routes\n')
  }
  expect((await get(`${url}/other`, html)).status).toBe(503)
})

test('F14: another hostname and another site get neither the page nor its data', async () => {
  const { url } = await startShop()
  for (const path of ['/', '/state'])
    for (const host of ['evil.example', '127.0.0.1.evil.example:80', 'shop.local.evil.example']) {
      const answer = await get(`${url}${path}`, { ...html, host })
      expect([answer.status, answer.type]).toEqual([503, 'text/plain; charset=utf-8'])
      expect(answer.text).not.toMatch(/\bweb\b|default/)
    }
  for (const headers of [
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'http://127.0.0.1:1' },
  ])
    expect((await get(`${url}/state`, headers)).status).toBe(403)
})

test('F14: a Route for the hostname of the router wins over the page', async () => {
  const { plane, url } = await startShop()
  const route = await plane.client.get(Route, shop)
  await plane.client.patch(route, { spec: { hostnames: ['127.0.0.1'] } })
  await plane.until(async () => (await get(url, html)).text.startsWith('hello'))
  expect((await get(`${url}/state`, {})).text).toMatch(/^hello/)
})

test('F14: the state has what the tables show, and nothing of the configuration of an App', async () => {
  const { plane, url, pid } = await startShop()
  const state = async (): Promise<{ routes: unknown[]; apps: { usedBy: string[] }[] }> =>
    JSON.parse((await get(`${url}/state`, {})).text) as { routes: unknown[]; apps: { usedBy: string[] }[] }
  await plane.until(async () => (await state()).apps[0]?.usedBy.length === 1)
  expect(await state()).toMatchObject({
    routes: [{ name: 'shop', hostnames: ['shop.local'], targets: ['web'], state: { level: 'ok', text: 'ready' } }],
    apps: [{ name: 'web', pid: await pid(), usedBy: ['Route default/shop'], state: { level: 'ok', text: 'ready' } }],
  })
  expect((await get(`${url}/state`, {})).text).not.toMatch(/WORD|hello|require/)
  await plane.client.patch(await plane.client.get(App, web), { spec: { running: false } })
  await plane.until(async () => JSON.stringify(await state()).includes('waits for App web: a user stopped it'))
})

test('F14: the file that the page names makes a Route that answers', async () => {
  const { plane, ask, pid } = await start()
  const file = readFileSync(new URL('../shop.yaml', import.meta.url), 'utf8').replace('5080', String(await freePort()))
  const [route = '', app = ''] = file.split('\n---\n')
  for (const [path, body] of [
    ['route.multi.ch/v1/namespaces/default/routes/shop', route],
    ['app.multi.ch/v1/namespaces/default/apps/web', app],
  ] as const)
    await plane.client.raw({
      method: 'PATCH',
      path: `/apis/${path}?fieldManager=test`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: Buffer.from(body),
    })
  await plane.until(async () => (await ask('shop.localhost')).status === 200, { timeoutMs: 30_000 })
  expect((await ask('shop.localhost:8702')).text).toBe(`Hello from process ${await pid()}\n`)
})

test('F14: the router falls back to a free port when its own is taken, and says so', async () => {
  const first = await start()
  const port = Number(new URL(first.url).port)
  if (!first.plane.manager) throw new Error('no manager runs')
  const other = appRoute()
  onTestFinished(() => other.stop())
  const second = await other.start(first.plane.manager, port)
  expect(second.isTaken).toBe(true)
  expect(second.url).not.toBe(first.url)
  expect((await get(second.url, html)).status).toBe(200)
})

const path = findBrowser()

describe.skipIf(path === undefined)('F14: the page in a browser', () => {
  let browser: Browser
  beforeAll(() => {
    browser = new Browser(path ?? '')
  })
  afterAll(() => browser.close())

  test('shows Routes and Apps as they change, with commands for them, without horizontal scrolling', async () => {
    const { plane, url } = await start()
    const page = await browser.open(url, { width: 360, height: 740 })
    await page.until(`document.body.innerText.includes('There are no Routes and no Apps yet.')`)
    const apply = await page.evaluate<string>(`document.querySelector('#commands code').innerText`)
    expect(readFileSync(apply.split(' ').at(-1) ?? '', 'utf8')).toContain('kind: Route')
    await plane.client.create(Route, {
      metadata: shop,
      spec: { hostnames: ['shop.localhost', "x'; rm -rf ~"], targetRefs: [{ name: 'web' }] },
    })
    await page.until(`document.getElementById('sentence').innerText.includes('waits for App web')`)
    await plane.client.create(App, { metadata: web, spec: { command: 'exec sleep 600', port: await freePort() } })
    await page.until(`document.getElementById('sentence').innerText === '1 of 1 Route and 1 of 1 App are ready.'`)
    const { port } = new URL(url)
    expect(await page.evaluate(`[...document.querySelectorAll('a')].map((a) => a.href)`)).toEqual([
      `http://shop.localhost:${port}/`,
    ])
    const commands = await page.evaluate<string>(`document.getElementById('commands').innerText`)
    expect(commands).toContain('npx evenkeel do app/web stop --yes')
    expect(commands).not.toContain('rm -rf')
    expect(await page.evaluate(`document.documentElement.scrollWidth`)).toBe(360)
  })
})
