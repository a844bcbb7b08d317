/**
 * The tutorial from its first to its last line, and the first screen of the page on npm, as a reader would type them: in an
 * empty folder, with the packed packages.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRegistry, type PackedPackage, type Registry } from './registry.fixture.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const page = readFileSync(join(root, 'docs', 'guides', 'operator-tutorial.md'), 'utf8')
const home = mkdtempSync(join(realpathSync(tmpdir()), 'evenkeel-tutorial-'))
const reader = join(home, 'blogs')
let registry: Registry

interface Fence {
  /** `ts`, `sh`, `text prints` ... */
  readonly info: string
  readonly text: string
}

interface Section {
  readonly title: string
  readonly fences: readonly Fence[]
}

/** The sections of a page, each with its fences. */
function sections(text = page): readonly Section[] {
  return text.split(/^## /m).map((section) => ({
    title: section.slice(0, section.indexOf('\n')),
    fences: [...section.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)].map(([, info = '', body = '']) => ({
      info,
      text: body,
    })),
  }))
}

/** The environment of a reader: no cluster, an own home, our packages in the registry. */
function environment(): NodeJS.ProcessEnv {
  const { KUBECONFIG: _, ...env } = process.env
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_|^VITEST|^NODE_ENV|^TEST/i.test(name)))
  return { ...own, HOME: home, npm_config_registry: registry.url, npm_config_audit: 'false', npm_config_fund: 'false' }
}

/** Types lines into a terminal; the registry in this process answers meanwhile. */
async function type(lines: string, cwd: string): Promise<string> {
  const child = spawn('bash', ['-euc', lines], { cwd, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { out: '', err: '' }
  child.stdout.on('data', (piece: Buffer) => (said.out += piece.toString()))
  child.stderr.on('data', (piece: Buffer) => (said.err += piece.toString()))
  const [status] = (await once(child, 'close')) as [number]
  expect(status, `${lines}\n${said.out}${said.err}`).toBe(0)
  return said.out
}

beforeAll(async () => {
  const output = execFileSync(process.execPath, [join(root, 'tools', 'pack.mjs'), home], { encoding: 'utf8' })
  registry = await startRegistry(JSON.parse(output) as PackedPackage[], home)
}, 240_000)

afterAll(() => {
  registry.stop()
  rmSync(home, { recursive: true, force: true })
})

test('the tutorial works as it is printed, from the installation to the last step', async () => {
  const [introduction, ...steps] = sections()
  const [install = ''] = introduction?.fences.map(({ text }) => text) ?? []
  const [program = '', ...before] = install.trimEnd().split('\n').reverse()
  expect(program).toMatch(/^npx tsx blogs\.ts/)
  await type(before.reverse().join('\n'), home)
  for (const { title, fences } of steps.filter(isNumbered)) {
    const source = fences.find(isProgram)
    writeFileSync(join(reader, 'blogs.ts'), source?.text ?? '')
    if (source?.info === 'ts run') expectPrinted(await type(program, reader), printedAfter(source, fences), title)
    else await whileRunning(program, { title, fences })
  }
}, 600_000)

test('F2: the first screen of the page on npm works as it is printed, in an empty folder', async () => {
  const [screen] = sections(readFileSync(join(root, 'packages', 'evenkeel', 'README.md'), 'utf8'))
  const [install, program, ...more] = screen?.fences ?? []
  const folder = join(home, 'hello')
  mkdirSync(folder)
  await type(install?.text ?? '', folder)
  writeFileSync(join(folder, 'app.ts'), program?.text ?? '')
  expect(more.map(({ info }) => info)).toEqual(['sh'])
  await whileRunning('npx tsx app.ts', { title: 'hello world', fences: more }, folder)
}, 600_000)

test('each numbered step has one whole program, with lines to type or with its output', () => {
  const steps = sections().filter(isNumbered)
  expect(steps.map(({ title }) => Number.parseInt(title))).toEqual([1, 2, 3, 4, 5, 6, 7])
  for (const { title, fences } of steps) {
    expect(
      fences.filter(({ info }) => info.startsWith('ts')).map((fence) => isProgram(fence)),
      title,
    ).toEqual([true])
    const shown = fences.filter(({ info }) => info === 'text prints')
    expect(shown.length, title).toBeGreaterThan(0)
  }
})

function isNumbered({ title }: { readonly title: string }): boolean {
  return /^\d+\. /.test(title)
}

function isProgram({ info }: Fence): boolean {
  return info === 'ts' || info === 'ts run'
}

/** The output that the page shows below a program or below lines that are typed. */
function printedAfter(fence: Fence, fences: readonly Fence[]): string | undefined {
  const next = fences[fences.indexOf(fence) + 1]
  return next?.info === 'text prints' ? next.text : undefined
}

/** Compares with the page: `…` is what differs between runs, and a line of its own stands for the rest of the lines. */
function expectPrinted(output: string, shown: string | undefined, title: string): void {
  if (shown === undefined) return
  const pattern = shown
    .replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replace(/^…\n$/m, String.raw`[^]*`)
    .replaceAll('…', String.raw`[^\n]*?`)
  if (!new RegExp(`^${pattern}$`).test(output)) expect(output, title).toBe(shown)
}

/** Runs the program of a step, types its lines in another terminal, and presses Ctrl-C. */
async function whileRunning(program: string, { title, fences }: Section, cwd = reader): Promise<void> {
  const child = spawn('bash', ['-c', `exec ${program.replace(/#.*/, '')}`], {
    cwd,
    env: environment(),
    detached: true,
  })
  const said = { text: '' }
  const ended = once(child, 'close')
  const ready = new Promise<void>((resolve, reject) => {
    const look = (piece: Buffer): void => {
      said.text += piece.toString()
      if (said.text.includes('Ctrl-C stops it.')) resolve()
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    void ended.then(() => {
      reject(new Error(`the program ended: ${said.text}`))
    })
  })
  await ready
  try {
    for (const fence of fences.filter(({ info }) => info === 'sh'))
      expectPrinted(await type(fence.text, cwd), printedAfter(fence, fences), title)
  } catch (error) {
    throw new Error(`the program said: ${said.text}`, { cause: error })
  } finally {
    process.kill(-(child.pid ?? 0), 'SIGINT')
    await ended
  }
}
