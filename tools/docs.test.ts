/**
 * The documentation holds: programs in it type-check, those that are meant to be run print what the page says, and links lead somewhere.
 */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client } from 'evenkeel/client'
import { startServer } from 'evenkeel/server'
import { brokenLinks } from './doc-examples/links.ts'
import { fencesOf, listPages, programsOf, readPage, root } from './doc-examples/pages.ts'
import { ProgramFiles, whereIs } from './doc-examples/programs.ts'
import type { Ran } from './doc-examples/programs.ts'

const pages = listPages()
const fences = pages.flatMap((page) => fencesOf(page, readPage(page)))
const programs = pages.flatMap((page) => programsOf(fencesOf(page, readPage(page))))

describe('programs of the pages', () => {
  const folder = join(root, '.cache', 'doc-examples', `tested-${process.pid}`)
  const files = new ProgramFiles(folder, programs)
  let ran: readonly Ran[] = []
  let wrong: readonly string[] = []
  beforeAll(async () => {
    ;[wrong, ran] = await Promise.all([files.checkTypes(), files.run()])
  }, 180_000)
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true })
  })

  test('type-check', () => {
    expect(wrong).toEqual([])
    expect(programs.length).toBeGreaterThan(20)
  })

  test.for(programs.filter(({ isRun }) => isRun).map((program) => [whereIs(program), program] as const))(
    '%s runs and prints what the page says',
    ([where, { prints }]) => {
      const { printed, error } = ran.find((each) => each.where === where) ?? { printed: '', error: 'it was not run' }
      expect(error).toBeUndefined()
      if (prints !== undefined) expect(printed).toBe(prints)
    },
  )
})

test.for(
  fences
    .filter(({ language }) => language === 'yaml')
    .map((fence) => [`${fence.page}:${fence.line}`, fence.text] as const),
)('a server takes the manifests of %s as they are', async ([, text]) => {
  const server = await startServer()
  const client = new Client({ transport: server.transport, namespace: 'default' })
  for (const manifest of text.split(/^---$/m)) {
    const [, apiVersion = ''] = /^apiVersion: (.*)$/m.exec(manifest) ?? []
    const [, kind = ''] = /^kind: (.*)$/m.exec(manifest) ?? []
    const [, namespace = 'default'] = /^metadata:.*namespace: (\w+)/m.exec(manifest) ?? []
    const { plural, namespaced } = await client.resourceOf({ apiVersion, kind })
    if (namespaced)
      await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }).catch(() => undefined)
    const path = `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion}${namespaced ? `/namespaces/${namespace}` : ''}/${plural}?fieldValidation=Strict`
    const { status } = await client.raw({
      method: 'POST',
      path,
      body: Buffer.from(manifest),
      headers: { 'content-type': 'application/yaml' },
    })
    expect(status).toBe(201)
  }
  await server.stop({ graceMs: 0 })
})

describe('pages', () => {
  test('what is said to be part of a file is', () => {
    const lines = (text: string): string =>
      text
        .trim()
        .split('\n')
        .map((line) => line.trim())
        .join('\n')
    const gone = fences.filter(
      ({ language, words: [way = ''], text }) =>
        language === 'ts' &&
        way.startsWith('file=') &&
        !lines(readFileSync(join(root, way.slice(5)), 'utf8')).includes(lines(text)),
    )
    expect(gone.map(({ page, line }) => `${page}:${line}`)).toEqual([])
  })

  test('links lead somewhere', () => {
    expect(pages.flatMap((page) => brokenLinks(page, readPage(page)))).toEqual([])
  })

  test('fences that say nothing one can understand are refused', () => {
    expect(() => fencesOf('a.md', '```ts runs\n```')).toThrow('a.md:2')
    expect(() => fencesOf('a.md', '```ts\nconst a = 1')).toThrow('not closed')
  })
})
