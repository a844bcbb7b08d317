import { expect, test } from 'vitest'
import { ApiError } from 'evenkeel'
import type { HandlerResponse, RouteRequest } from 'evenkeel/server'
import { createLogger, deferred, nextTurn, SimulatedClock, SystemClock } from 'evenkeel/unstable/base'
import { Execution } from './execution.ts'

class TestHost {
  readonly cleaned = deferred<undefined>()
  cleanups = 0
  readonly stops: string[] = []
  readonly execution = new Execution({
    log: createLogger({ clock: new SimulatedClock(), sink: () => undefined }),
    cleanUp: async () => {
      this.cleanups++
      await this.cleaned.promise
    },
    stop: (cleanup) => this.stops.push(cleanup),
  })

  async send(method: 'GET' | 'PATCH', text = '', type = 'application/merge-patch+json'): Promise<[number, string]> {
    const bytes = Buffer.from(text)
    const request: RouteRequest = {
      method,
      path: '/admin/execution',
      query: new URLSearchParams(),
      headers: method === 'GET' && type === 'application/merge-patch+json' ? {} : { 'content-type': type },
      user: { name: 'host', groups: [] },
      signal: new AbortController().signal,
      body: (bytesMax = 0) =>
        bytes.length > bytesMax
          ? Promise.reject(new ApiError('RequestEntityTooLarge', 'large'))
          : Promise.resolve(bytes),
    }
    const answer = (await this.execution.route.handlers[method]?.(request)) as HandlerResponse
    return [answer.status ?? 200, typeof answer.body === 'string' ? answer.body.trimEnd() : '']
  }

  ask(status: string, cleanup?: string): Promise<[number, string]> {
    return this.send(
      'PATCH',
      JSON.stringify({ status, ...(cleanup !== undefined && { shutdownResourceCleanup: cleanup }) }),
    )
  }

  async state(): Promise<string> {
    return (JSON.parse((await this.send('GET'))[1]) as { status: string }).status
  }
}

function documentOf(status: string, shutdownResourceCleanup = 'Full'): string {
  return JSON.stringify({ status, shutdownResourceCleanup })
}

test('an application runs at first; the document is JSON only', async () => {
  const host = new TestHost()
  expect(await host.send('GET')).toEqual([200, documentOf('Running')])
  expect(await host.send('GET', '', 'application/json')).toEqual([200, documentOf('Running')])
  expect((await host.send('GET', '', 'text/yaml'))[0]).toBe(415)
})

test('cleaning up is accepted, happens once, and is complete when everything is gone', async () => {
  const host = new TestHost()
  expect(host.execution.isCleaningUp).toBe(false)
  expect(await host.ask('CleaningResources')).toEqual([202, documentOf('CleaningResources')])
  expect(await host.ask('CleaningResources')).toEqual([204, ''])
  expect([host.cleanups, host.execution.isCleaningUp]).toEqual([1, true])
  host.cleaned.resolve(undefined)
  await nextTurn(new SystemClock())
  expect(await host.state()).toBe('CleanupComplete')
  expect(await host.ask('CleaningResources')).toEqual([200, documentOf('CleanupComplete')])
  expect(await host.ask('Stopping')).toEqual([202, documentOf('Stopping')])
  expect([host.cleanups, host.stops]).toEqual([1, ['Full']])
})

test('a stop during the cleanup stays a stop when the cleanup is complete', async () => {
  const host = new TestHost()
  await host.ask('CleaningResources')
  expect(await host.ask('Stopping')).toEqual([202, documentOf('Stopping')])
  host.cleaned.resolve(undefined)
  await nextTurn(new SystemClock())
  expect(await host.state()).toBe('Stopping')
  expect(await host.ask('CleaningResources')).toEqual([200, documentOf('Stopping')])
  expect(await host.ask('Stopping')).toEqual([204, ''])
  expect(host.stops).toEqual(['Full'])
})

test('a stop without cleanup is passed on', async () => {
  const host = new TestHost()
  expect(await host.ask('Stopping', 'None')).toEqual([202, documentOf('Stopping', 'None')])
  expect([host.stops, host.cleanups]).toEqual([['None'], 0])
  expect((await host.ask('CleaningResources', 'Full'))[0]).toBe(422)
})

test.each<[number, string, string]>([
  [400, 'no JSON', '{'],
  [400, 'a list', '[]'],
  [422, 'no status', '{}'],
  [422, 'a status that only the server reaches', '{"status":"CleanupComplete"}'],
  [422, 'the first state', '{"status":"Running"}'],
  [422, 'an unknown cleanup', '{"status":"Stopping","shutdownResourceCleanup":"Some"}'],
  [413, 'more than 512 bytes', `{"status":"Stopping","x":"${'x'.repeat(512)}"}`],
])('%i: a patch with %s changes nothing', async (status, _, text) => {
  const host = new TestHost()
  expect((await host.send('PATCH', text))[0]).toBe(status)
  expect([await host.state(), host.stops]).toEqual(['Running', []])
})

test('415: a patch of another type', async () => {
  const host = new TestHost()
  expect((await host.send('PATCH', '{"status":"Stopping"}', 'application/json'))[0]).toBe(415)
})
