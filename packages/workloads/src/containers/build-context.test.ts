/** What is sent to a build: files without those that are ignored, as a tar archive that tar can read. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseIgnore, tarOfContext } from './build-context.ts'
import { writeTar } from './tar-writer.ts'

function makeFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-context-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}

/** What tar makes of an archive. */
function tar(bytes: Buffer, ...options: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync('tar', [...options, '-f', '-'], { input: bytes, encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(status).toBe(0)
  return stdout
}

describe('parseIgnore', () => {
  test.each([
    ['node_modules', 'node_modules/a/b.js', true],
    ['node_modules', 'web/node_modules/b.js', false],
    ['**/node_modules', 'web/node_modules/b.js', true],
    ['*.log', 'a.log', true],
    ['*.log', 'logs/a.log', false],
    ['**/*.log', 'logs/deep/a.log', true],
    ['logs/**', 'logs/deep/a.log', true],
    ['a?c', 'abc', true],
    ['a?c', 'a/c', false],
    ['/dist/', 'dist/x', true],
    ['*.md\n!README.md', 'README.md', false],
    ['*.md\n!README.md', 'other.md', true],
    ['!README.md\n*.md', 'README.md', true],
    ['# *.md', 'a.md', false],
    ['a.c', 'abc', false],
    ['\uFEFFdist\r\n', 'dist', true],
  ])('%j about %s: %s', (text, path, expected) => {
    expect(parseIgnore(text).isExcluded(path)).toBe(expected)
  })

  test('the Dockerfile is kept whatever is excluded', () => {
    const ignore = parseIgnore('*', ['docker/Dockerfile'])
    expect(ignore.isExcluded('docker/Dockerfile')).toBe(false)
    expect(ignore.mayHold('docker')).toBe(true)
    expect(ignore.mayHold('other')).toBe(false)
  })
})

describe('tarOfContext', () => {
  test('an archive that tar reads: files, folders, links, long and foreign names, without what is ignored', async () => {
    const long = `${'deep/'.repeat(30)}file.txt`
    const folder = makeFolder({
      Dockerfile: 'FROM scratch\n',
      '.dockerignore': 'node_modules\n*.log\n',
      'node_modules/a/index.js': 'no',
      'a.log': 'no',
      'src/ä.txt': 'umlaut',
      empty: '',
      exact: 'x'.repeat(512),
      [long]: 'deep',
    })
    symlinkSync('../empty', join(folder, 'src/link'))
    const bytes = await bytesOf(tarOfContext({ folder, dockerfile: 'Dockerfile' }))
    expect(bytes.length % 512).toBe(0)
    const names = tar(bytes, '--quoting-style=literal', '-t').split('\n')
    expect(names).toEqual(
      expect.arrayContaining(['Dockerfile', '.dockerignore', 'src/', 'src/ä.txt', 'src/link', 'empty', 'exact', long]),
    )
    expect(names.join()).not.toMatch(/node_modules|a\.log/)
    expect(tar(bytes, '-xO', long)).toBe('deep')
    expect(tar(bytes, '-xO', 'exact')).toBe('x'.repeat(512))
    // The same files are the same bytes.
    expect((await bytesOf(tarOfContext({ folder, dockerfile: 'Dockerfile' }))).equals(bytes)).toBe(true)
  })

  test('a context or a Dockerfile that is missing is named, with the field', async () => {
    const folder = makeFolder({ a: '' })
    await expect(bytesOf(tarOfContext({ folder: join(folder, 'a'), dockerfile: 'Dockerfile' }))).rejects.toThrow(
      'correct spec.build.context',
    )
    await expect(bytesOf(tarOfContext({ folder, dockerfile: 'Dockerfile' }))).rejects.toThrow(
      'correct spec.build.dockerfile',
    )
  })

  test.each([2, 4])('a file that has %s bytes instead of 3 fails the archive', async (size) => {
    async function* content(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(size)
    }
    const entry = { path: 'a', type: 'file', mode: 0o644, size: 3, content: content() } as const
    await expect(bytesOf(writeTar([entry]))).rejects.toThrow('a changed while it was read')
  })
})
