import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadModule, orBadFile } from './modules.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'evenkeel-modules-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

/** What tsx says in a folder whose package.json has no type. */
const refusal = 'app.ts:3:0: ERROR: Top-level await is currently not supported with the "cjs" output format'

test('F2: a program that needs an ES module is refused with the command that makes it one', async () => {
  writeFileSync(join(folder, 'app.mjs'), `throw new Error(${JSON.stringify(refusal)})`)
  await expect(loadModule('app.mjs', { cwd: folder })).rejects.toMatchObject({
    code: 'bad-file',
    message: expect.stringContaining('app.ts:3:0') as string,
    hints: ['npm pkg set type=module'],
  })
  await expect(
    orBadFile(Promise.reject(new RangeError(`cannot load module app.ts: ${refusal}`))),
  ).rejects.toMatchObject({
    code: 'bad-file',
    hints: ['npm pkg set type=module'],
  })
})

test('other failures of a module have no such hint', async () => {
  writeFileSync(join(folder, 'app.mjs'), "throw new Error('no settings')")
  await expect(loadModule('app.mjs', { cwd: folder })).rejects.toMatchObject({ hints: [] })
})
