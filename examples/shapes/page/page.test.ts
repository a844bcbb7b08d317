/** The page in a real browser: presses every button and checks the picture and the explanation. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Browser, findBrowser } from '../../browser.fixture.ts'
import type { OpenPage } from '../../browser.fixture.ts'
import { startDemo } from '../running.fixture.ts'
import type { RunningDemo } from '../running.fixture.ts'
import { steps } from '../steps/all.ts'

const path = findBrowser()

describe.skipIf(path === undefined)('the page of the shapes demo', () => {
  let running: RunningDemo
  let browser: Browser
  let page: OpenPage

  beforeAll(async () => {
    running = await startDemo()
    browser = new Browser(path ?? '')
    page = await browser.open(running.url, { width: 1280, height: 760 })
  })

  afterAll(async () => {
    await browser.close()
    await running.stop()
  })

  beforeEach(async () => {
    await running.press('start-over')
    await choose(7)
  })

  const drawn = (name: string, color?: string): string =>
    `document.querySelectorAll('[data-shape="${name}"]${color === undefined ? '' : `[data-color="${color}"]`}').length`
  const said = (text: string): string => `document.getElementById('said').innerText.includes(${JSON.stringify(text)})`
  const objects = (text: string): string =>
    `document.getElementById('objects').innerText.includes(${JSON.stringify(text)})`
  /** Presses a button when it is enabled. */
  const press = async (name: string): Promise<void> => {
    await page.until(`document.querySelector('[data-do="${name}"]').getAttribute('aria-disabled') === 'false'`)
    await page.click(`[data-do="${name}"]`)
  }
  const choose = async (number: number): Promise<void> => {
    await page.click(`[data-step="${number}"]`)
    await page.until(`document.getElementById('title').innerText.startsWith('Step ${number}:')`)
  }
  const begin = async (): Promise<void> => {
    await press('create')
    await page.until(`${drawn('foo')} === 1 && ${said('I draw a purple square')}`)
  }

  test('create foo, then change its color: it is drawn, then painted', async () => {
    await begin()
    await press('recolor-object')
    await page.until(`${drawn('foo', 'orange')} === 1 && ${said('differs in color: I make it an orange square')}`)
  })

  test('remove or repaint by hand: it is drawn or painted again', async () => {
    await begin()
    await press('recolor-by-hand')
    await page.until(`${drawn('foo', 'grey')} === 1`)
    await page.until(`${drawn('foo', 'purple')} === 1 && ${said('differs in color')}`)
    await press('remove-by-hand')
    await page.until(`${drawn('foo')} === 0`)
    await page.until(`${drawn('foo', 'purple')} === 1`)
  })

  test('another client draws bar, or forges labels: both shapes stay', async () => {
    await begin()
    await press('foreign')
    running.service.createShape({ name: 'baz', type: 'triangle', color: 'crimson', labels: { owner: 'k8s' } })
    await press('restart')
    await page.until(`${drawn('bar')} === 1 && ${drawn('baz')} === 1 && ${drawn('foo')} === 1`)
  })

  test('delete the object: the shape is removed, then the object', async () => {
    await begin()
    await press('delete-object')
    await page.until(`${drawn('foo')} === 0 && ${objects('No objects.')}`)
    expect(await page.evaluate(said('is no longer wanted: I remove it'))).toBe(true)
  })

  test('delete while the controller is down: the shape is removed when it is back', async () => {
    await begin()
    await press('miss-deletion')
    await page.until(`${said('deleted while the controller was down')} && ${drawn('foo')} === 0`)
  })

  test('remove the finalizer by force: the tracking object remains, and the shape is removed', async () => {
    await begin()
    await press('force-finalizer')
    await page.until(`${said('by force')} && ${drawn('foo')} === 0`)
  })

  test('stop the service: the object waits and reports it; start it: foo is drawn', async () => {
    await press('service')
    await page.until("document.getElementById('service').innerText === 'down'")
    await press('create')
    await page.until(objects('Synced: False'))
    await press('service')
    await page.until(`${drawn('foo')} === 1 && ${objects('Synced: True')}`)
  })

  test('stop the controller: nothing is corrected until it runs again', async () => {
    await begin()
    // An unobserved create gets time to appear, longer than this test.
    await page.until(objects('Synced: True'))
    await press('controller')
    await page.until("document.getElementById('running').innerText === 'stopped'")
    await press('remove-by-hand')
    await page.until(`${drawn('foo')} === 0`)
    await press('controller')
    await page.until(`document.getElementById('running').innerText === 'running' && ${drawn('foo')} === 1`)
  })

  test('delete the tracking object: nothing is drawn twice', async () => {
    await begin()
    await press('delete-ref')
    await press('restart')
    await press('recolor-object')
    await page.until(`${drawn('foo', 'orange')} === 1`)
    expect(await page.evaluate(drawn('foo'))).toBe(1)
  })

  test('F-pages: a press on a disabled button does nothing and says why', async () => {
    await page.until(`document.querySelector('[data-do="delete-object"]').title.startsWith('There is no object foo')`)
    await page.click('[data-do="delete-object"]')
    await page.until(`document.querySelector('.hint').innerText === 'There is no object foo: create it first.'`)
    expect((await running.state()).said).toEqual([])
    await running.press('create')
    await page.until(`document.querySelector('.hint').innerText === ''`)
  })

  test('F-pages: the focus stays on its element while the state changes', async () => {
    await page.evaluate(`document.querySelector('[data-step="7"]').focus()`)
    await begin()
    expect(await page.evaluate('document.activeElement.dataset.step')).toBe('7')
  })

  test('F-pages: nothing is wider than a phone, in any step', async () => {
    await page.size(360, 740)
    for (const { number } of steps) {
      await choose(number)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    }
    await page.size(1280, 760)
  })

  test.each(steps.map(({ number, title }) => [number, title] as const))(
    'F-pages: "Show me" of step %i, %s, presses real buttons until the effect is seen',
    async (number) => {
      await choose(number)
      const { show } = (await running.state()).step
      await page.evaluate('document.body.dataset.pace = "0"')
      await page.click('#show')
      await page.until(
        `document.getElementById('playing').innerText === ${JSON.stringify(show.at(-1)?.seen)} && !document.getElementById('show').hasAttribute('aria-disabled')`,
      )
      const { shapes, objects: left } = await running.state()
      for (const [name, count] of Object.entries(show.at(-1)?.until.shapes ?? {}))
        expect(shapes.filter((shape) => shape.name === name)).toHaveLength(count)
      expect(left).toHaveLength(show.at(-1)?.until.object === false ? 0 : 1)
    },
    60_000,
  )
})
