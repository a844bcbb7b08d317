/** `PUT /admin/perftrace`. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HandlerResponse, RouteRequest } from 'evenkeel/server'
import { createLogger, deferred, SimulatedClock } from 'evenkeel/unstable/base'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { profileRoute } from './profile.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-dcp-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

function profiles(into: string | undefined) {
  const stopping = new AbortController()
  const logged = deferred<string>()
  const clock = new SimulatedClock()
  const log = createLogger({
    clock,
    sink: ({ message }) => {
      logged.resolve(message)
    },
  })
  const route = profileRoute({ clock, log, folder: into, signal: stopping.signal })
  const put = async (query: string): Promise<readonly [status: number | undefined, text: string]> => {
    const request: RouteRequest = {
      method: 'PUT',
      path: '/admin/perftrace',
      query: new URLSearchParams(query),
      headers: {},
      user: { name: 'host', groups: [] },
      signal: stopping.signal,
      body: () => Promise.resolve(new Uint8Array()),
    }
    const { status, body } = (await route.handlers.PUT?.(request)) as HandlerResponse
    return [status, typeof body === 'string' ? body.trimEnd() : '']
  }
  return { put, stopping, logged: logged.promise }
}

test('a profile is recorded until its time is over or the program ends', async () => {
  const { put, stopping, logged } = profiles(folder)
  expect(await put('duration=1m30s&type=snapshot-cpu')).toEqual([204, ''])
  expect(await put('duration=10s')).toEqual([409, expect.stringContaining('is being recorded') as string])
  stopping.abort(new Error('the end'))
  expect(await logged).toBe('recorded profile')
  const [name = ''] = await readdir(folder)
  expect(name).toMatch(/^dcp-snapshot-cpu-\d+-\d+\.cpuprofile$/)
  const profile = JSON.parse(await readFile(join(folder, name), 'utf8')) as object
  expect(profile).toHaveProperty('nodes')
})

test.each([
  ['', 400, 'the parameter duration is required: a duration such as 10s'],
  ['duration=soon', 400, 'the parameter duration is required: a duration such as 10s'],
  ['duration=999ms', 400, 'the duration must be from 1s to 5m'],
  ['duration=5m1s', 400, 'the duration must be from 1s to 5m'],
  ['duration=10s&type=heap', 400, 'the type must be snapshot or snapshot-cpu'],
])('?%s is refused', async (query, status, text) => {
  expect(await profiles(folder).put(query)).toEqual([status, text])
})

test('a server without a folder for profiles records none', async () => {
  expect(await profiles(undefined).put('duration=10s')).toEqual([501, 'this server records no profiles'])
})
