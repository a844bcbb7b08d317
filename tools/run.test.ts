/**
 * run.mjs from the view of a caller: arguments, exit codes and signals are passed through.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const tools = dirname(fileURLToPath(import.meta.url))
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'evenkeel-run-'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('run passes arguments and the exit code, without warnings about types', async () => {
  const child = start(
    'const text: string = JSON.stringify(process.argv.slice(2))\nconsole.log(text)\nprocess.exitCode = 7',
    ['a', '--b'],
  )
  expect(await ended(child)).toEqual({ code: 7, signal: null, output: '["a","--b"]\n' })
})

test('run resolves the source condition', async () => {
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ type: 'module', imports: { '#a': { source: './a.ts', default: './gone.js' } } }),
  )
  writeFileSync(join(folder, 'a.ts'), 'export const a: number = 1')
  expect(await ended(start("import { a } from '#a'\nconsole.log(a)"))).toMatchObject({ code: 0, output: '1\n' })
})

test.for(['SIGINT', 'SIGTERM'] as const)('run passes %s on and waits for a clean stop', async (signal) => {
  const child = start(
    `process.on('${signal}', () => { console.log('stopped'); process.exit(5) })\nsetInterval(() => {}, 1_000)\nconsole.log('ready')`,
  )
  await once(child.stdout!, 'data')
  child.kill(signal)
  expect(await ended(child)).toMatchObject({ code: 5, output: 'stopped\n' })
})

test('run ends with the signal that ended the program', async () => {
  expect(await ended(start("process.kill(process.pid, 'SIGKILL')"))).toMatchObject({ code: null, signal: 'SIGKILL' })
})

function start(program: string, args: readonly string[] = []): ChildProcess {
  const file = join(folder, 'main.ts')
  writeFileSync(file, program)
  return spawn(process.execPath, [join(tools, 'run.mjs'), file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
}

async function ended(child: ChildProcess): Promise<{ code: number | null; signal: string | null; output: string }> {
  let output = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  return { code, signal, output }
}
