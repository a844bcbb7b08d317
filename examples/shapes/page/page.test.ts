/** The page in a real browser: presses every button and checks the picture and the explanation. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startTestPlane } from 'evenkeel/testing'
import type { TestPlane } from 'evenkeel/testing'
import { ExternalRef, ExternalSweep } from 'evenkeel/verbs'
import { Demo } from '../demo.ts'
import { Shape } from '../kinds.ts'
import { mishaps } from '../mishaps.ts'
import { ShapesInMemory } from '../service/shapes-in-memory.ts'
import { Browser, findBrowser } from './browser.fixture.ts'
import { servePage } from './serve-page.ts'

const path = findBrowser()
/** Saves pictures for the docs with SCREENSHOTS=1 npm test -- examples/shapes */
const keeps = process.env['SCREENSHOTS'] === '1'
const pictures = fileURLToPath(new URL('../../../docs/pictures/shapes/', import.meta.url))

describe.skipIf(path === undefined)('the page of the shapes demo', () => {
  const stop = new AbortController()
  let plane: TestPlane
  let browser: Browser
  let page: Awaited<ReturnType<Browser['open']>>
  let demo: Demo
  let service: ShapesInMemory

  beforeAll(async () => {
    plane = await startTestPlane({ kinds: [Shape, ExternalRef, ExternalSweep] })
    service = new ShapesInMemory()
    const served = await servePage({ service, port: 0, signal: stop.signal })
    demo = new Demo({ client: plane.client, transport: plane.plane.transport, service, url: served.url })
    served.show(demo, { client: plane.client })
    browser = new Browser(path ?? '')
    page = await browser.open(served.url, { width: 1280, height: 760 })
  })

  afterAll(async () => {
    await browser.close()
    await demo.stop()
    stop.abort()
    await plane.stop()
  })

  /** Resets the demo: no objects, the last step, a running controller. */
  beforeEach(async () => {
    await demo.stop()
    for (const kind of [Shape, ExternalRef, ExternalSweep]) {
      for (const object of (await plane.client.list(kind)).items) {
        for (const finalizer of object.metadata.finalizers ?? []) await plane.client.removeFinalizer(object, finalizer)
        await plane.client.delete(object as never, { ignoreNotFound: true })
      }
    }
    service.isDown = false
    service.shapes.clear()
    await demo.choose(7)
    demo.start()
  })

  const drawn = (name: string, color?: string): string =>
    `document.querySelectorAll('[data-shape="${name}"]${color === undefined ? '' : `[data-color="${color}"]`}').length`
  const said = (text: string): string => `document.getElementById('said').innerText.includes(${JSON.stringify(text)})`
  const press = async (name: string): Promise<void> => {
    expect(Object.keys(mishaps)).toContain(name)
    await page.click(`[data-do="${name}"]`)
  }
  const keep = async (name: string): Promise<void> => {
    if (!keeps) return
    mkdirSync(pictures, { recursive: true })
    writeFileSync(`${pictures}${name}.png`, await page.screenshot())
  }
  const begin = async (): Promise<void> => {
    await press('create')
    await page.until(`${drawn('foo')} === 1 && ${said('I draw a purple square')}`)
  }

  test('create foo, then change its color: it is drawn, then painted', async () => {
    await begin()
    await keep('asked')
    await press('recolor-object')
    await page.until(`${drawn('foo', 'orange')} === 1 && ${said('differs in color: I make it a orange square')}`)
  })

  test('remove or recolor manually: it is drawn or painted again', async () => {
    await begin()
    await press('recolor-by-hand')
    await page.until(`${drawn('foo', 'grey')} === 1`)
    await page.until(`${drawn('foo', 'purple')} === 1 && ${said('differs in color')}`)
    await press('remove-by-hand')
    await page.until(`${drawn('foo')} === 0`)
    await page.until(`${drawn('foo', 'purple')} === 1`)
    await keep('drift')
  })

  test('another client draws bar, and forges a label: both stay', async () => {
    await begin()
    await press('foreign')
    await press('forge')
    await press('restart')
    await page.until(`${drawn('bar')} === 1 && ${drawn('baz')} === 1 && ${drawn('foo')} === 1`)
    await keep('foreign')
  })

  test('delete the object: the shape is removed, then the object', async () => {
    await begin()
    await press('delete-object')
    await page.until(`${drawn('foo')} === 0 && document.getElementById('objects').innerText.includes('Nothing.')`)
    expect(await page.evaluate(said('is no longer wanted: I remove it'))).toBe(true)
  })

  test('delete while the controller is down: the shape is removed when it is back', async () => {
    await begin()
    await press('miss-deletion')
    await page.until(`${said('stopped the controller, deleted the object')} && ${drawn('foo')} === 0`)
    await keep('missed-deletion')
  })

  test('remove the finalizer by force: the tracking object remains, and the shape is removed', async () => {
    await begin()
    await press('force-finalizer')
    await page.until(`${said('by force')} && ${drawn('foo')} === 0`)
    await keep('forced')
  })

  test('take the service down: the object waits and reports it; up again: it is drawn', async () => {
    await press('down')
    await page.until("document.getElementById('service').innerText === 'is down'")
    await press('create')
    await page.until("document.getElementById('objects').innerText.includes('Synced: False')")
    await keep('down')
    await press('down')
    await page.until(`${drawn('foo')} === 1 && document.getElementById('objects').innerText.includes('Synced: True')`)
  })

  test('stop the controller: nothing is corrected until it runs again', async () => {
    await begin()
    // An unobserved create gets time to appear, longer than this test.
    await page.until("document.getElementById('objects').innerText.includes('Synced: True')")
    await press('stop')
    await page.until("document.getElementById('running').innerText === 'is stopped'")
    await press('remove-by-hand')
    await page.until(`${drawn('foo')} === 0`)
    await press('stop')
    await page.until(`document.getElementById('running').innerText === 'runs' && ${drawn('foo')} === 1`)
  })

  test('delete the tracking object, remove labels: nothing is drawn twice', async () => {
    await begin()
    await press('delete-ref')
    await press('strip-marks')
    await press('restart')
    await press('recolor-object')
    await page.until(`${drawn('foo', 'orange')} === 1`)
    expect(await page.evaluate(drawn('foo'))).toBe(1)
  })

  test('each broken step shows its mistake', async () => {
    await page.click('[data-step="1"]')
    await page.until("document.getElementById('title').innerText.includes('Step 1')")
    await begin()
    await press('restart')
    await page.until(`${drawn('foo')} === 2`)
    await keep('one-way-restarted')
    await press('foreign')
    await page.click('[data-step="2"]')
    await page.until(`${said('no object wants bar')} && ${drawn('bar')} === 0`)
    await keep('drift-takes-all')
    await page.click('[data-step="3"]')
    await press('miss-deletion')
    await page.until("document.getElementById('objects').innerText.includes('Nothing.')")
    expect(await page.evaluate(drawn('foo'))).toBeGreaterThan(0)
    await keep('leak')
    await page.click('[data-step="4"]')
    await press('forge')
    await press('create')
    await page.until(`${said('I missed a deletion, I remove it')} && ${drawn('baz')} === 0`)
    await keep('forged-removed')
    await page.click('[data-step="5"]')
    await press('forge')
    await page.until(said('suspicious, I leave it alone'))
    expect(await page.evaluate(drawn('baz'))).toBe(1)
    await page.click('[data-step="6"]')
    await page.until("document.getElementById('objects').innerText.includes('finalizers:')")
    await press('miss-deletion')
    await page.until("document.getElementById('objects').innerText.includes('Nothing.')")
  })

  test('clear: everything of ours is removed', async () => {
    await begin()
    await press('clear')
    await page.until(`${drawn('foo')} === 0 && document.getElementById('objects').innerText.includes('Nothing.')`)
  })
})
