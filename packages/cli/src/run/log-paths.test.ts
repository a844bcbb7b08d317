/** The logs of processes are files: no name and no parameter of a request may choose another one. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, assert, beforeAll, describe, expect, test } from 'vitest'
import { runControllers, type Ready } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import type { ControllerDeclaration } from 'evenkeel/controller'
import { workloads } from '@evenkeel/workloads'
import { typed } from '../fixtures/cli.fixture.ts'
import { clientOf } from '../commands/up.ts'

const canary = 'canary-7fKq2'
const stopping = new AbortController()
let folder = ''
let client: Client
let running: Promise<void>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-logs-'))
  await writeFile(join(folder, 'canary'), `${canary}\n`)
  const { controllers, runnables, customResources } = workloads({
    folder: join(folder, 'data', 'workloads'),
    cwd: folder,
    env: process.env,
  })
  const ready = await new Promise<Ready>((resolve, reject) => {
    running = runControllers(stopping.signal, {
      controllers: controllers as readonly unknown[] as readonly ControllerDeclaration[],
      runnables,
      customResources,
      embedded: true,
      port: 0,
      data: join(folder, 'data'),
      memory: true,
      onReady: resolve,
    })
    running.catch(reject)
  })
  client = clientOf(ready)
  const spec = { command: ['sh', '-c', 'echo hello; exec sleep 1000'] }
  const web = { apiVersion: 'workloads.evenkeel.dev/v1', kind: 'Process', metadata: { name: 'web' }, spec }
  expect(await typed(['apply', '-f', '-'], { cwd: folder, stdin: JSON.stringify(web) })).toMatchObject({ code: 0 })
  expect(await typed(['wait', 'web', '--for=Ready', '--timeout', '60s'], { cwd: folder })).toMatchObject({ code: 0 })
})
afterAll(async () => {
  stopping.abort(new Error('the test is over'))
  await running
  await rm(folder, { recursive: true, force: true })
})

/** The status and the text of a response. */
async function get(path: string): Promise<{ readonly code: number; readonly text: string }> {
  try {
    const { status, text } = await client.raw({ path: `/apis/workloads.evenkeel.dev/v1/namespaces/default/${path}` })
    return { code: status, text: text() }
  } catch (error) {
    assert(error instanceof Error && 'code' in error)
    return { code: Number(error.code), text: error.message }
  }
}

const above = '..%2f..%2f..%2f..%2f..%2f'

describe('row 8: the log of a process is its own file', () => {
  test.each([
    `processes/${above}canary/log`,
    `processes/web%2f..%2f${above}canary/log`,
    'processes/%00/log',
    `processes/web/log?run=${above}canary`,
    `processes/web/log?run=1%2f${above}canary`,
    `processes/web/log?source=${above}canary`,
    `processes/web/log?positions=true&after=${above}canary:0`,
    `processes/web/log?previous=${above}canary`,
    'processes/web/log/../../../../canary',
    `processes/web/log/${above}canary`,
  ])('%s is refused', async (path) => {
    const { code, text } = await get(path)
    expect(code).toBeGreaterThanOrEqual(400)
    expect(text).not.toContain(canary)
  })

  test('parameters that name files have no effect', async () => {
    const path = encodeURIComponent(join(folder, 'canary'))
    for (const name of ['path', 'file', 'logFile', 'container', 'errorFile'])
      expect(await get(`processes/web/log?${name}=${path}`)).toEqual({ code: 200, text: 'hello\n' })
  })
})
