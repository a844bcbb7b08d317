/**
 * ensure.mjs on its own small clones, without a network: packages come from workspaces.
 */
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

let clone: string

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'evenkeel-ensure-'))
  mkdirSync(join(clone, 'tools'))
  cpSync(join(dirname(fileURLToPath(import.meta.url)), 'ensure.mjs'), join(clone, 'tools', 'ensure.mjs'))
  writePackages(['one'])
})

afterEach(() => rmSync(clone, { recursive: true, force: true }))

test('ensure installs in a fresh clone, and is silent once that is done', async () => {
  const first = await ensure()
  expect(first).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^Installing packages .*\nPackages ready after/),
  })
  expect(existsSync(join(clone, 'node_modules', 'one'))).toBe(true)
  expect(await ensure()).toEqual({ code: 0, output: '' })
})

test('ensure installs again after the lock file changed', async () => {
  await ensure()
  writePackages(['one', 'two'])
  await ensure()
  expect(existsSync(join(clone, 'node_modules', 'two'))).toBe(true)
})

test('ensure accepts manually installed packages', async () => {
  await ensure()
  rmSync(join(clone, 'node_modules', '.evenkeel-lock'))
  expect(await ensure()).toEqual({ code: 0, output: '' })
})

test('ensure installs again when the packages are from another system', async () => {
  await ensure()
  const stamp = join(clone, 'node_modules', '.evenkeel-lock')
  writeFileSync(stamp, readFileSync(stamp, 'utf8').replace(/^\S+/, 'plan9-pdp11'))
  expect((await ensure()).output).toContain('Installing')
})

test('ensure installs once when two run at the same time', async () => {
  const both = await Promise.all([ensure(), ensure()])
  expect(both.map(({ code }) => code)).toEqual([0, 0])
  expect(both.filter(({ output }) => output.includes('Installing'))).toHaveLength(1)
})

test('ensure does not wait for a run that was killed', async () => {
  const busy = join(clone, '.cache', 'ensure.busy')
  mkdirSync(dirname(busy))
  writeFileSync(busy, 'gone')
  utimesSync(busy, 0, 0)
  expect((await ensure()).code).toBe(0)
})

test('ensure prints one line of advice for an old Node', async () => {
  const old = `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'18.20.0'}})`
  expect(await ensure({ flags: ['--import', old] })).toEqual({
    code: 1,
    output: 'Error: Evenkeel needs Node 20.19 or newer, this is 18.20.0: install a newer Node, then run it again\n',
  })
})

test('ensure prints one line of advice without a network', async () => {
  writePackages(['one'], { dependencies: { 'left-pad': '1.3.0' } })
  const env = {
    npm_config_registry: 'http://127.0.0.1:9',
    npm_config_fetch_retries: '0',
    npm_config_cache: join(clone, 'cache'),
  }
  expect(lastLine(await ensure({ env }))).toMatch(/^Error: .* registry cannot be reached: check the network/)
})

test('ensure prints one line of advice for an outdated lock file', async () => {
  mkdirSync(join(clone, 'three'))
  writeFileSync(join(clone, 'three', 'package.json'), JSON.stringify({ name: 'three', version: '1.0.0' }))
  writeFileSync(
    join(clone, 'package.json'),
    JSON.stringify({ ...manifest(['one']), dependencies: { three: 'file:three' } }),
  )
  expect(lastLine(await ensure())).toMatch(/^Error: .*run `npm install` once/)
})

test('ensure prints one line of advice for a read-only folder', async () => {
  writeFileSync(join(clone, '.cache'), 'a file where a folder is needed')
  expect(await ensure()).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^Error: .* cannot be written .*copy the clone[^\n]*\n$/),
  })
})

interface Ended {
  readonly code: number
  readonly output: string
}

function ensure({ flags = [], env = {} }: { flags?: string[]; env?: Record<string, string> } = {}): Promise<Ended> {
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')))
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...flags, join(clone, 'tools', 'ensure.mjs')],
      { env: { ...clean, ...env } },
      (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr })
      },
    )
  })
}

function lastLine({ output }: Ended): string {
  return output.trimEnd().split('\n').at(-1) ?? ''
}

function manifest(names: readonly string[]): Record<string, unknown> {
  return { name: 'clone', version: '1.0.0', private: true, workspaces: names.map((name) => `packages/${name}`) }
}

/** Writes package.json, the workspaces, and the lock file that npm would write for them. */
function writePackages(names: readonly string[], extra: { dependencies?: Record<string, string> } = {}): void {
  const packages: Record<string, unknown> = { '': { ...manifest(names), ...extra } }
  for (const name of names) {
    mkdirSync(join(clone, 'packages', name), { recursive: true })
    writeFileSync(join(clone, 'packages', name, 'package.json'), JSON.stringify({ name, version: '1.0.0' }))
    packages[`node_modules/${name}`] = { resolved: `packages/${name}`, link: true }
    packages[`packages/${name}`] = { version: '1.0.0' }
  }
  for (const [name, version] of Object.entries(extra.dependencies ?? {})) packages[`node_modules/${name}`] = { version }
  writeFileSync(join(clone, 'package.json'), JSON.stringify({ ...manifest(names), ...extra }))
  writeFileSync(
    join(clone, 'package-lock.json'),
    JSON.stringify({ name: 'clone', version: '1.0.0', lockfileVersion: 3, requires: true, packages }),
  )
}
