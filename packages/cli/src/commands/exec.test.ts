import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineKind } from 'evenkeel'
import { openDataPlane, type ConnectHandler, type ConnectRequest } from 'evenkeel/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Io } from '../command.ts'
import { typed, type Said } from '../fixtures/cli.fixture.ts'
import { main } from '../main.ts'
import { DetachKeys } from '../remote-terminal.ts'
import { SystemClock } from 'evenkeel/unstable/base'

const Lab = defineKind({ group: 'demo.dev', version: 'v1', kind: 'Lab', spec: { type: 'object', properties: {} } })

/** Shows what it was asked, then its input in capitals; the exit code is 3. */
const shout: ConnectHandler = async (_, { command, tty, container, stdin, stdout, stderr }) => {
  await stdout.write(Buffer.from(`${JSON.stringify({ command, tty, container })}\n`))
  for await (const piece of stdin) await stdout.write(Buffer.from(Buffer.from(piece).toString().toUpperCase()))
  await stderr.write(Buffer.from('done\n'))
  return { exitCode: 3 }
}

/** A terminal that shows its sizes, and ends at Ctrl-C. */
const terminal: ConnectHandler = async (_, { stdin, stdout, resizes }) => {
  void (async () => {
    for await (const { width, height } of resizes) await stdout.write(Buffer.from(`${width}x${height};`))
  })().catch(() => undefined)
  for await (const piece of stdin) {
    if (piece.includes(3)) return { exitCode: 130 }
    await stdout.write(piece)
  }
  return { exitCode: 0 }
}

describe('exec and attach', () => {
  let folder: string
  let stop: () => Promise<void>
  let running: ((request: ConnectRequest) => void) | undefined

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'evenkeel-exec-'))
    const attach: ConnectHandler = (object, request) => {
      running?.(request)
      return terminal(object, request)
    }
    const data = await openDataPlane({
      folder: join(folder, 'data'),
      memory: true,
      kinds: [Lab],
      customResources: [{ kind: Lab, connects: { exec: shout, attach } }],
    })
    stop = () => data.stop()
    const body = JSON.stringify({ apiVersion: 'demo.dev/v1', kind: 'Lab', metadata: { name: 'a' }, spec: {} })
    expect((await type(['apply', '-f', '-'], body)).code).toBe(0)
  })
  afterAll(async () => {
    await stop()
    await rm(folder, { recursive: true, force: true })
  })

  const type = (words: readonly string[], stdin = ''): Promise<Said> => typed(words, { cwd: folder, stdin })

  test('exec runs the words after --, passes input on, and exits as the command does', async () => {
    const { code, out, err } = await type(['exec', '-i', 'lab/a', '-c', 'main', '--', 'ls', '-l', '-i'], 'abc')
    expect([code, out, err]).toEqual([3, '{"command":["ls","-l","-i"],"tty":false,"container":"main"}\nABC', 'done\n'])
  })

  test('exec without -i sends no input; --json prints lines', async () => {
    const { code, out } = await type(['exec', 'lab/a', '--json', '--', 'ls'], 'abc')
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(code).toBe(3)
    expect(lines).toContainEqual({ stderr: 'done\n' })
    expect(lines.at(-1)).toEqual({ exitCode: 3 })
    expect(out).not.toContain('ABC')
  })

  test('a missing object, a kind without exec, and -it without a terminal are failures with a hint', async () => {
    const missing = await type(['exec', 'lab/b', '--', 'ls'])
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('error[not-found]')])
    const other = await type(['exec', 'configmap/a', '--', 'ls'])
    expect([other.code, other.err]).toEqual([2, expect.stringContaining('configmaps have no subresource exec')])
    expect((await type(['exec', '-it', 'lab/a', '--', 'sh'])).err).toContain('-it needs a terminal')
  })

  /** Types into a terminal, piece by piece, each when the text before it is shown. */
  async function person(keys: readonly [shown: RegExp, typed: string][]): Promise<Said & { readonly raw: boolean[] }> {
    const said = { out: '', err: '' }
    const raw: boolean[] = []
    let wake: () => void = () => undefined
    let resize: () => void = () => undefined
    const size = { columns: 80, rows: 24 }
    const io: Io = {
      stdout: {
        write: (text) => {
          said.out += text
          wake()
        },
        isTTY: true,
        get columns() {
          return size.columns
        },
        get rows() {
          return size.rows
        },
      },
      stderr: { write: (text) => (said.err += text) },
      stdin: (async function* () {
        for (const [shown, text] of keys) {
          while (!shown.test(said.out)) await new Promise<void>((resolve) => (wake = resolve))
          if (text === 'RESIZE') {
            size.columns = 100
            resize()
          } else yield Buffer.from(text)
        }
        await new Promise(() => undefined)
      })(),
      terminal: {
        readKeys: () => () => undefined,
        suspend: () => undefined,
        setRaw: (isRaw) => raw.push(isRaw),
        onResize: (call) => {
          resize = call
          return () => (resize = () => undefined)
        },
      },
      env: { HOME: folder },
      cwd: folder,
      signal: new AbortController().signal,
      clock: new SystemClock(),
    }
    const code = await main(['attach', 'lab/a'], io)
    return { code, ...said, raw }
  }

  test('attach passes on keys, sizes and Ctrl-C, and gives the terminal back', async () => {
    const { code, out, raw } = await person([
      [/80x24;/, 'RESIZE'],
      [/100x24;/, 'hello'],
      [/hello/, '\u0003'],
    ])
    expect([code, raw]).toEqual([130, [true, false]])
    expect(out).toBe('80x24;100x24;hello')
  })

  test('Ctrl-P Ctrl-Q detaches', async () => {
    let aborted: Promise<void> | undefined
    running = ({ signal }) => {
      aborted = new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          resolve()
        })
      })
    }
    const { code, err, raw } = await person([[/80x24;/, '\u0010\u0011']])
    expect([code, err, raw]).toEqual([0, '\r\nDetached.\r\n', [true, false]])
    await aborted
  })
})

test('a Ctrl-P that no Ctrl-Q follows is a key like others', () => {
  const keys = new DetachKeys()
  expect(Buffer.from(keys.take(Buffer.from('a\u0010b\u0010')) ?? []).toString()).toBe('a\u0010b')
  expect(Buffer.from(keys.take(Buffer.from('c')) ?? []).toString()).toBe('\u0010c')
  expect(Buffer.from(keys.take(Buffer.from('\u0010\u0010')) ?? []).toString()).toBe('\u0010')
  expect(keys.take(Buffer.from('\u0011'))).toBeUndefined()
})
