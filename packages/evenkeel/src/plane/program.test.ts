import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { deferred } from '#base'
import { importProgram, programTaker } from './program.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'evenkeel-program-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

/** A module that calls `run` of its own copy of the package. */
function programOf(text: string): string {
  const path = join(folder, 'app.mjs')
  writeFileSync(path, `const run = globalThis[Symbol.for('evenkeel.take-program')]\n${text}`)
  return pathToFileURL(path).href
}

test('F4: importProgram takes the options of run, and has the exports after it', async () => {
  const url = programOf("await run({ name: 'a', controllers: [] })\nexport const scenario = 'after'")
  const { exports, program } = await importProgram(url)
  expect([exports['scenario'], program]).toEqual(['after', { name: 'a', controllers: [] }])
  expect(programTaker()).toBeUndefined()
})

test('F4: importProgram does not wait for a program that runs; what follows its run comes at the end', async () => {
  const stopped = deferred<void>()
  const url = programOf('await run({ controllers: [] })\nglobalThis.hasEnded = true')
  const { exports, program, finished } = await importProgram(url, { until: stopped.promise })
  const hasEnded = (): unknown => (globalThis as { hasEnded?: boolean }).hasEnded
  expect([exports, program, hasEnded()]).toEqual([{}, { controllers: [] }, undefined])
  stopped.resolve()
  await finished
  expect([hasEnded(), programTaker()]).toEqual([true, undefined])
})

test('F4: importProgram refuses a second run, and leaves nothing behind when the module fails', async () => {
  const url = programOf('await run({ controllers: [] })\nawait run({ controllers: [] })')
  await expect(importProgram(url)).rejects.toThrow('run was called twice: pass all controllers to one call')
  expect(programTaker()).toBeUndefined()
})

test('F2: importProgram has the exports of a module that was compiled to CommonJS', async () => {
  const path = join(folder, 'app.cjs')
  const compiled = "Object.defineProperty(module.exports, '__esModule', { value: true })\n"
  writeFileSync(
    path,
    `${compiled}Object.defineProperty(module.exports, 'app', { get: () => 'shop', enumerable: true })\n`,
  )
  const { exports } = await importProgram(pathToFileURL(path).href)
  expect([exports['app'], exports['default']]).toEqual(['shop', undefined])
})
