import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { lamp, TestCli, type Said } from '../fixtures/cli.fixture.ts'

/**
 * An editor: keeps what it was given, waits for the URL in WAIT, and replaces FROM by TO.
 * Its arguments are those of the command and the file.
 */
const program = `
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
const [from, to, wait] = process.argv.slice(2)
const path = process.argv.at(-1)
const text = readFileSync(path, 'utf8')
const modes = [dirname(path), path].map((each) => (statSync(each).mode & 0o777).toString(8))
appendFileSync(new URL('seen.jsonl', import.meta.url), JSON.stringify({ path, text, modes, words: process.argv.slice(2, -1) }) + '\\n')
if (wait?.startsWith('http:')) await fetch(wait)
if (from === 'exit') { writeFileSync(path, text + '# changed'); process.exit(Number(to)) }
writeFileSync(path, text.replaceAll(from, to))
`

interface Opened {
  readonly path: string
  readonly text: string
  readonly modes: readonly string[]
  readonly words: readonly string[]
}

let cli: TestCli
let folder = ''
beforeAll(async () => {
  cli = await TestCli.start()
  folder = join(cli.folder, 'my editor')
  await mkdir(folder)
  await writeFile(join(folder, 'edit.mjs'), program)
})
beforeEach(async () => {
  await rm(join(folder, 'seen.jsonl'), { force: true })
  await cli.apply(lamp('desk'))
  await cli.typeUntil(['get', 'lamp/desk', '-o', 'yaml'], /Shines/)
})
// Applied while it is being deleted, it would be gone a moment later.
afterEach(async () => {
  await cli.type(['delete', 'lamp/desk', '--ignore-not-found'])
  await cli.typeUntil(['get', 'lamp/desk'], /not found/)
})
afterAll(() => cli.stop())

/** Types `edit` with an editor that gets these words. */
async function edit(words: string, ...more: readonly string[]): Promise<Said & { readonly opened: readonly Opened[] }> {
  const env = { EDITOR: `"${process.execPath}" '${join(folder, 'edit.mjs')}' ${words}` }
  const said = await cli.type(['edit', 'lamp/desk', ...more], { env })
  const path = join(folder, 'seen.jsonl')
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
  return { ...said, opened: lines.map((line) => JSON.parse(line) as Opened) }
}

describe('edit', () => {
  test('F16: stores what the editor leaves, from a private file without managed fields', async () => {
    const { code, out, err, opened } = await edit("'watts: 60' 'watts: 75'")
    expect([code, out, err]).toEqual([0, 'lamp/desk edited\n', ''])
    const [{ path, text, modes } = { path: '', text: '', modes: [] }] = opened
    expect(modes).toEqual(['700', '600'])
    expect(text).toMatch(/^# Edit the object below\./)
    expect(text).not.toContain('managedFields')
    expect(parse(text)).toMatchObject({ kind: 'Lamp', metadata: { name: 'desk' }, spec: { watts: 60 } })
    expect(existsSync(dirname(path))).toBe(false)
    const { metadata, spec } = parse(
      (await cli.type(['get', 'lamp/desk', '-o', 'yaml', '--show-managed-fields'])).out,
    ) as {
      metadata: { managedFields: { manager: string }[] }
      spec: object
    }
    expect(spec).toEqual({ watts: 75 })
    expect(metadata.managedFields.map(({ manager }) => manager)).toContain('evenkeel-edit')
  })

  test('F16: an unchanged or empty text changes nothing', async () => {
    expect(await edit('nothing else')).toMatchObject({ code: 0, out: 'lamp/desk: no changes\n' })
    expect(JSON.parse((await edit('nothing else', '--json')).out)).toMatchObject({ outcome: 'unchanged', name: 'desk' })
    // Only comments and layout differ.
    expect(await edit("'spec:' '# a note{nl}spec:'".replace('{nl}', '\n'))).toMatchObject({
      out: 'lamp/desk: no changes\n',
    })
  })

  test('F16: a text that the server refuses is opened again with the reason; given up, it is kept', async () => {
    const { code, err, opened } = await edit("'watts: 60' 'watts: -1'")
    expect(code).toBe(1)
    expect(opened).toHaveLength(2)
    expect(opened[1]?.text).toMatch(/\n# The object was not saved:\n# .*spec\.watts.*\n#\n/)
    expect(parse(opened[1]?.text ?? '')).toMatchObject({ spec: { watts: -1 } })
    expect(err).toMatch(
      /^error\[refused\]: not saved: .*spec\.watts.*\nTry: evenkeel edit lamp\/desk; your text is in \//,
    )
    const kept = /your text is in (.+)\n/.exec(err)?.[1] ?? ''
    expect(parse(await readFile(kept, 'utf8'))).toMatchObject({ spec: { watts: -1 } })
    expect((statSync(kept).mode & 0o077) === 0).toBe(true)
    await rm(dirname(kept), { recursive: true })
  })

  test.each([
    ["'name: desk' 'name: other'", /# metadata\.name must not change/],
    ["'kind: Lamp' 'kind: [Lamp'", /# .*(?:Flow|flow|collection)/],
    ["'watts: 60' 'watts: *none'", /# .*none/],
  ])('F16: %s is a mistake that is explained in the file', async (words, says) => {
    const { code, opened, err } = await edit(words)
    expect(code).toBe(1)
    expect(opened[1]?.text).toMatch(says)
    await rm(dirname(/your text is in (.+)\n/.exec(err)?.[1] ?? 'none'), { recursive: true })
  })

  test('F16: when the object changes in the meantime, nothing is overwritten and nothing is lost', async () => {
    const server = createServer((_, response) => {
      void cli.apply({ ...lamp('desk'), spec: { watts: 40 } }).then(() => response.end())
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    try {
      const { code, err } = await edit(
        `'watts: 60' 'watts: 75' http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      )
      expect(code).toBe(1)
      expect(err).toMatch(/^error\[refused\]: lamp\/desk was changed in the meantime: /)
      const kept = /your text is in (.+)\n/.exec(err)?.[1] ?? ''
      expect(parse(await readFile(kept, 'utf8'))).toMatchObject({ spec: { watts: 75 } })
      await rm(dirname(kept), { recursive: true })
    } finally {
      server.close()
    }
    expect((await cli.type(['get', 'lamp/desk'])).out).toMatch(/desk +40\n/)
  })

  test('F16: an editor that fails or is missing changes nothing; a changed text is kept', async () => {
    const { code, err } = await edit('exit 3')
    expect(code).toBe(1)
    expect(err).toMatch(/^error\[refused\]: the editor .* ended with 3: nothing was changed\nTry: .*your text is in \//)
    await rm(dirname(/your text is in (.+)\n/.exec(err)?.[1] ?? 'none'), { recursive: true })
    expect(await cli.type(['edit', 'lamp/desk'], { env: { EDITOR: 'no-such-editor-here' } })).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^error\[usage\]: cannot run the editor no-such-editor-here: /) as string,
    })
    expect(await cli.type(['edit', 'lamp/desk'], { env: { VISUAL: 'vi "' } })).toMatchObject({
      code: 2,
      err: 'error[usage]: VISUAL has a quote without its end: vi "\n',
    })
  })

  test('F16: the editor runs without a shell', async () => {
    const { opened } = await edit('zzzz yyyy ; touch $HOME/pwned')
    expect(opened[0]?.words).toEqual(['zzzz', 'yyyy', ';', 'touch', '$HOME/pwned'])
  })

  test('F16: leaves no file behind', async () => {
    const opened = [...(await edit("'watts: 60' 'watts: 75'")).opened, ...(await edit('nothing else')).opened]
    expect(opened).toHaveLength(3)
    expect(opened.filter(({ path }) => existsSync(dirname(path)))).toEqual([])
  })
})
