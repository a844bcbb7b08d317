/** The buttons without a browser: what they do, when they are refused, and what the log reports. */
import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Button } from './actions.ts'
import { startDemo } from './running.fixture.ts'
import type { RunningDemo } from './running.fixture.ts'
import { steps } from './steps/all.ts'
import { aShape } from './steps/step.ts'

let running: RunningDemo
beforeEach(async () => {
  running = await startDemo()
})
afterEach(() => running.stop())

const texts = async (): Promise<string[]> => (await running.state()).said.map(({ text }) => text)
const button = async (name: string): Promise<Button | undefined> =>
  (await running.state()).buttons.find((each) => each.name === name)
const names = async (): Promise<string[]> => (await running.state()).shapes.map(({ name }) => name)

test('F13: the story begins at step 1', async () => {
  expect((await running.state()).step).toMatchObject({ number: 1, title: 'One way' })
})

test('F13: Start over removes shapes that an earlier step leaked, and clears the log', async () => {
  const { demo, press, until } = running
  await demo.choose(5)
  await press('create')
  await until(({ shapes }) => shapes.length === 1)
  await press('miss-deletion')
  expect(await names()).toEqual(['foo'])
  await press('controller')
  await press('service')
  expect(await press('start-over')).toEqual({ status: 200 })
  expect(await running.state()).toMatchObject({
    step: { number: 5 },
    objects: [],
    refs: [],
    shapes: [],
    said: [],
    isDown: false,
    isRunning: true,
  })
  expect((await button('start-over'))?.whyNot).toBe('There is nothing to clear.')
})

test('F13: Start over removes objects that wait for the finalizer of another step', async () => {
  const { demo, press, until } = running
  await demo.choose(7)
  await press('create')
  await until(({ refs, objects }) => refs.length === 1 && objects[0]?.id !== undefined)
  await demo.choose(1)
  await press('delete-object')
  expect((await running.state()).objects).toMatchObject([{ name: 'foo', isDeleting: true }])
  await press('start-over')
  expect(await running.state()).toMatchObject({ objects: [], refs: [], shapes: [] })
})

test('F13: the log does not report what did not happen', async () => {
  for (const name of [
    'delete-object',
    'recolor-object',
    'force-finalizer',
    'delete-ref',
    'miss-deletion',
    'remove-by-hand',
  ])
    expect(await running.press(name)).toMatchObject({ status: 409, error: expect.stringMatching(/\.$/) as string })
  expect(await texts()).toEqual([])
  expect(await running.press('no-such-button')).toMatchObject({ status: 404 })
})

test('F13: the log reports an action before what the controller says about it, and who acted', async () => {
  const { press, until } = running
  await press('create')
  await until(({ said }) => said.length === 2)
  expect((await running.state()).said).toMatchObject([
    { by: 'you', text: 'You created the object foo, a purple square.', times: 1 },
    { by: 'controller', text: 'foo is new: I draw a purple square' },
  ])
  await press('recolor-object')
  await until(({ said }) => said.length === 4)
  expect((await texts()).slice(2)).toEqual([
    'You changed the color of the object foo to orange.',
    'foo changed: I make it an orange square',
  ])
})

test('F13: an article fits its color', () => {
  expect(aShape({ color: 'orange', type: 'square' })).toBe('an orange square')
  expect(aShape({ color: 'purple', type: 'square' })).toBe('a purple square')
})

test('F13: a toggle says what it will do', async () => {
  const { press } = running
  expect([(await button('controller'))?.label, (await button('service'))?.label]).toEqual([
    'Stop the controller',
    'Stop the service',
  ])
  await press('controller')
  await press('service')
  expect([(await button('controller'))?.label, (await button('service'))?.label]).toEqual([
    'Start the controller',
    'Start the service',
  ])
  expect(await texts()).toEqual(['The controller was stopped.', 'The service was stopped.'])
})

test('F13: a button without effect says why, in the state and in the step', async () => {
  const { demo, press, until } = running
  const reasons = async (): Promise<Record<string, string | undefined>> =>
    Object.fromEntries((await running.state()).buttons.map(({ name, whyNot }) => [name, whyNot]))
  expect(await reasons()).toMatchObject({
    create: undefined,
    'delete-object': 'There is no object foo: create it first.',
    'remove-by-hand': 'The service has no shape foo.',
    forge: 'The controller of step 1 reads no labels.',
    'delete-ref': 'Step 1 has no tracking object.',
  })
  await press('create')
  await until(({ shapes }) => shapes.length === 1)
  expect(await reasons()).toMatchObject({
    create: 'The object foo already exists.',
    'delete-object': undefined,
    'remove-by-hand': undefined,
    'force-finalizer': 'foo has no finalizer.',
  })
  await press('service')
  expect((await reasons())['remove-by-hand']).toBe('The service is down: start it first.')
  await press('controller')
  expect((await reasons())['restart']).toBe('The controller is stopped: start it instead.')
  await demo.choose(4)
  expect((await reasons())['forge']).toBe('The service is down: start it first.')
})

test('F13: two presses at once do not mix', async () => {
  const [first, second] = await Promise.all([running.press('create'), running.press('create')])
  expect([first.status, second.status].sort()).toEqual([200, 409])
  await Promise.all([running.press('controller'), running.press('controller'), running.press('controller')])
  expect((await running.state()).isRunning).toBe(false)
})

test('F-pages: every button is in a group, and the commands fit what is on the screen', async () => {
  const { buttons, commands } = await running.state()
  expect([...new Set(buttons.map(({ group }) => group))]).toEqual(['you', 'others', 'faults', 'reset'])
  expect(buttons.filter(({ group }) => group === 'reset').map(({ label }) => label)).toEqual(['Start over'])
  expect(commands).toEqual(['npx evenkeel get shapes'])
  await running.press('create')
  expect((await running.state()).commands).toEqual(['npx evenkeel why shape/foo'])
})

test('F-pages: every step names its flaw and shows it with buttons that exist', async () => {
  const { buttons } = await running.state()
  for (const { number } of steps) {
    await running.demo.choose(number)
    const { step } = await running.state()
    expect(step.flaw).toMatch(/\.$/)
    expect(step.show.length).toBeGreaterThan(1)
    for (const { press } of step.show) expect(buttons.map(({ name }) => name)).toContain(press)
  }
})

describe('F-pages: who may use the page', () => {
  const ask = (path: string, headers: Record<string, string>, method = 'GET'): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request(`${running.url}${path}`, { method, headers, agent: false }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end()
    })

  test('another hostname and another site get nothing', async () => {
    for (const path of ['/', '/state', '/events', '/shapes']) {
      expect(await ask(path, { host: 'evil.example' })).toBe(421)
      expect(await ask(path, { origin: 'https://evil.example' })).toBe(403)
    }
    for (const path of ['/do/create', '/step/2', '/shapes'])
      expect(await ask(path, { 'sec-fetch-site': 'cross-site' }, 'POST')).toBe(403)
    expect(await texts()).toEqual([])
  })
})
