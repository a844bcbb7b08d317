import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type * as Boxes from '../fixtures/boxes.fixture.ts'
import { typed, type Said } from '../fixtures/cli.fixture.ts'
import { startProcess } from '../fixtures/process.fixture.ts'

const boxes = fileURLToPath(new URL('../fixtures/boxes.fixture.ts', import.meta.url))

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-testing-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

function run(...words: readonly string[]): Promise<Said> {
  return startProcess(words, folder).ended
}

interface Report {
  readonly scenario: string
  readonly failures: readonly { readonly rule: string; readonly replay: string; readonly timeline?: unknown }[]
}

test('explore and replay: a failure is found, written, replayed, and gone with a correct program', async () => {
  const found = await run(
    'explore',
    `${boxes}#${'leaking' satisfies keyof typeof Boxes}`,
    '--tier',
    '0',
    '--cores',
    '1',
    '--json',
    '--out',
    'found',
    '--html',
    'pages/report.html',
  )
  expect(found).toMatchObject({ code: 1, err: '' })
  const { scenario, failures } = JSON.parse(found.out) as Report
  expect(scenario).toBe('boxes')
  const failure = failures.find(({ rule }) => rule === 'cleanup')
  expect(failure).toMatchObject({ replay: expect.stringMatching(/^found\/cleanup-\w+\.json$/) as string })
  expect(failure?.timeline).toBeUndefined()
  expect(await readFile(join(folder, 'pages', 'report.html'), 'utf8')).toContain('<html')
  const file = failure?.replay ?? ''

  const [again, stepped, right] = await Promise.all([
    run('replay', file),
    run('replay', file, '--steps', '--json'),
    run('replay', file, '--module', boxes),
  ])
  expect(again).toMatchObject({
    code: 1,
    out: expect.stringMatching(/✗ cleanup: .*\nThe rule is still broken\. The trace is the same\.\n$/s) as string,
  })
  const lines = stepped.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(lines.at(0)).toMatchObject({ actor: expect.any(String) as string })
  expect(lines.at(-1)).toMatchObject({ isFound: true, isSame: true })
  expect(right).toMatchObject({
    code: 0,
    out: expect.stringContaining('The rule holds now. The trace differs') as string,
  })
})

test('explore: no failure is exit code 0, with a text report and no files', async () => {
  const { code, out } = await run('explore', boxes, '--tier', '1', '--cores', '1', '--out', 'none')
  expect(out).toMatch(/^No failure in \d+ schedules of boxes/)
  expect(code).toBe(0)
  expect(await readdir(folder)).not.toContain('none')
})

test('explore and replay: a wrong module or file is one sentence and exit code 2', async () => {
  await writeFile(join(folder, 'empty.mjs'), 'export const a = 1\n')
  await writeFile(join(folder, 'damaged.json'), '{"format":2}')
  const type = (...words: readonly string[]): Promise<Said> => typed(words, { cwd: folder })
  expect(await type('explore', 'none.mjs')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^error\[bad-file\]: file .*none\.mjs does not exist\n/) as string,
  })
  expect(await type('explore', 'empty.mjs')).toMatchObject({
    code: 2,
    err: expect.stringContaining('export controllers and scenario') as string,
  })
  expect(await type('explore', 'empty.mjs#b')).toMatchObject({
    code: 2,
    err: expect.stringContaining('has no export b; its exports are: a') as string,
  })
  expect(await type('replay', 'damaged.json')).toMatchObject({
    code: 2,
    err: expect.stringContaining('the replay file is damaged') as string,
  })
  expect(await type('replay', 'empty.mjs')).toMatchObject({
    code: 2,
    err: expect.stringContaining('the text is not JSON') as string,
  })
  expect(await type('replay', 'nothing.json')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^error\[bad-file\]/) as string,
  })
  expect(JSON.parse((await type('explore', 'none.mjs', '--json')).out)).toMatchObject({ error: { code: 'bad-file' } })
})
