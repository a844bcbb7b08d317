/**
 * What `npm start` runs, from the sources: both demos on a file store, with a real process for an App; and Ctrl-C.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { connect } from 'evenkeel/client'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const demos = ['shapes', 'app-route'].map((name) => join(root, 'examples', name, 'main.ts'))
const app = {
  apiVersion: 'app.multi.ch/v1',
  kind: 'App',
  metadata: { name: 'web', namespace: 'default' },
  spec: { command: 'exec sleep 600', port: 5999 },
}

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'evenkeel-start-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

test('npm start: prints the addresses of both demos, runs a real process, and Ctrl-C leaves nothing behind', async () => {
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary)
  const { KUBECONFIG: _, ...env } = process.env
  const child = spawn(
    process.execPath,
    [
      join(root, 'tools', 'run.mjs'),
      join(root, 'packages', 'cli', 'src', 'fixtures', 'start.fixture.ts'),
      'up',
      ...demos,
      '--port',
      '0',
    ],
    {
      cwd: folder,
      env: {
        ...env,
        HOME: folder,
        TMPDIR: temporary,
        TSX_DISABLE_CACHE: '1',
        NODE_COMPILE_CACHE: '',
        SHAPES_PORT: '0',
        ROUTER_PORT: '0',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const ended = once(child, 'close')
  try {
    const text = await said(child.stdout, /export KUBECONFIG=.*\n/)
    expect(text).toMatch(/API server {2}https:\/\/127\.0\.0\.1:\d+\n {2}Shapes {6}http:\S+\n {2}Router {6}http:\S+\n/)
    for (const name of ['Shapes', 'Router']) {
      const url = new RegExp(`${name} +(\\S+)`).exec(text)?.[1] ?? ''
      const page = await fetch(url, { headers: { accept: 'text/html' } })
      expect([page.status, page.headers.get('content-type')], name).toEqual([
        200,
        expect.stringContaining('text/html') as string,
      ])
    }
    const pid = await runApp(join(folder, 'data', 'kubeconfig'))
    expect(isAlive(pid)).toBe(true)
    const { pid: own } = JSON.parse(readFileSync(join(folder, 'data', 'manager.json'), 'utf8')) as { pid: number }

    child.kill('SIGINT')
    expect((await ended)[0]).toBe(0)
    expect([pid, own].filter(isAlive)).toEqual([])
    expect(readdirSync(join(folder, 'data')).toSorted()).toEqual(['.gitignore', 'identity', 'kubeconfig', 'store'])
    expect(readdirSync(temporary).filter((name) => !name.startsWith('tsx-'))).toEqual([])
  } finally {
    child.kill('SIGKILL')
  }
})

/** Creates an App and returns the pid of its process. */
async function runApp(kubeconfig: string): Promise<number> {
  const client = await connect({ kubeconfig })
  try {
    await client.create(app)
    for await (const event of client.watch({ apiVersion: app.apiVersion, kind: app.kind }, { namespace: 'default' })) {
      const { pid } = (event as { object?: { status?: { pid?: number } } }).object?.status ?? {}
      if (pid !== undefined) return pid
    }
    throw new Error('the watch ended')
  } finally {
    await client.close()
  }
}

function said(output: NodeJS.ReadableStream, pattern: RegExp): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) => {
    output.on('data', (piece: Buffer) => {
      text += piece.toString()
      if (pattern.test(text)) resolve(text)
    })
    output.on('close', () => {
      reject(new Error(`the process ended: ${text}`))
    })
  })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
