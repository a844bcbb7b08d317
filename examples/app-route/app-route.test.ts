/** Real processes behind Apps and a real router in front of them; then the Explorer, with both in memory. */
import { describe, expect, test } from 'vitest'
import { explore, formatReport } from 'evenkeel/testing'
import type { TestPlane } from 'evenkeel/testing'
import { App, Route } from './kinds.ts'
import { shop, startShop, web } from './running.fixture.ts'
import * as apps from './scenario.ts'
import * as routes from './scenario-routes.ts'

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const act = (plane: TestPlane, action: string): Promise<unknown> =>
  plane.client.raw({ method: 'POST', path: `/apis/app.multi.ch/v1/namespaces/default/apps/web/${action}`, body: {} })
const readyOf = async (plane: TestPlane): Promise<{ status: string; message?: string } | undefined> =>
  (await plane.client.get(Route, shop)).status?.conditions?.find(({ type }) => type === 'Ready')

describe('App and Route', () => {
  test('a Route waits for its App, then routes to its process; a stopped App gives a reason and a 503; a started one works again', async () => {
    const { plane, ask, pid } = await startShop()
    expect((await ask('shop.local')).text).toBe(`hello ${await pid()}`)
    expect(await readyOf(plane)).toMatchObject({ status: 'True' })
    const before = await pid()

    await act(plane, 'stop')
    await plane.until(async () => (await readyOf(plane))?.message === 'App web: a user stopped it')
    expect(await readyOf(plane)).toMatchObject({ status: 'False', reason: 'WaitsForApp' })
    expect((await ask('shop.local')).status).toBe(503)
    expect(isAlive(before)).toBe(false)

    await act(plane, 'start')
    await plane.until(async () => (await ask('shop.local')).status === 200, { timeoutMs: 30_000 })
    expect(await pid()).not.toBe(before)
  })

  test('refresh restarts the process once', async () => {
    const { plane, pid } = await startShop()
    const before = await pid()
    await act(plane, 'refresh')
    await plane.until(async () => (await pid()) !== before)
    const after = await pid()
    expect(isAlive(before)).toBe(false)
    // Another reconcile of the same App does not repeat it.
    await plane.client.patch(await plane.client.get(App, web), { metadata: { labels: { touched: 'yes' } } })
    await plane.until(async () => (await plane.client.get(App, web)).status?.actions?.[0]?.state === 'Done')
    expect(await pid()).toBe(after)
    expect(isAlive(after)).toBe(true)
  })

  test('a killed process is restarted by the event of its exit', async () => {
    const { plane, ask, pid } = await startShop()
    const before = await pid()
    process.kill(before, 'SIGKILL')
    await plane.until(async () => (await pid()) !== before, { timeoutMs: 30_000 })
    await plane.until(async () => (await ask('shop.local')).text === `hello ${await pid()}`, { timeoutMs: 30_000 })
  })

  test('the App shows its users while it has any; its deletion leaves no process', async () => {
    const { plane, pid } = await startShop()
    const marks = async (): Promise<string[]> =>
      Object.entries((await plane.client.get(App, web)).metadata.annotations ?? {})
        .filter(([key]) => key.startsWith('used-by.multi.ch'))
        .map(([, value]) => value)
    await plane.until(async () => (await marks()).length === 1)
    expect((await marks())[0]).toContain('Route default/shop')
    await plane.client.delete(await plane.client.get(Route, shop))
    await plane.until(async () => (await marks()).length === 0 && (await plane.client.find(Route, shop)) === undefined)

    const last = await pid()
    await plane.client.delete(await plane.client.get(App, web))
    await plane.until(async () => (await plane.client.find(App, web)) === undefined)
    expect(isAlive(last)).toBe(false)
  })
})

describe('the Explorer finds nothing at tier 1', () => {
  test.each([
    ['apps', apps],
    ['routes', routes],
  ] as const)(
    '%s',
    async (_, { controllers, scenario }) => {
      const explored = await explore({ controllers: controllers as never, scenario: scenario as never })
      expect(explored.failures, formatReport(explored)).toEqual([])
      expect(explored.left).toBe(0)
    },
    300_000,
  )
})
